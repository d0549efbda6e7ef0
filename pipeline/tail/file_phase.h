// The phases of a tailed file, and the only place where they change.
//
// A phase answers two questions: how much the sink has heard of the file (nothing, opened(),
// finished()), and whether its end is due, that is, nobody is expected to write to it any more.
// Where the file is, and whether it can be read at the moment, are other questions: see
// TrackedFile::Presence and ReadHold.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace trainwatch {

enum class Phase : std::uint8_t {
  discovered,  // the sink has not heard of it: nothing of it was read yet
  skipped,     // discovered, and its end is due: when it is empty, nothing is lost
  reading,     // the sink heard opened(); more may come
  ending,      // reading, and its end is due: it is finished once all of it is read
  finished,    // the sink heard finished(); late growth is read all the same
  revived,     // finished, but its end is no longer due: its successor has vanished
};

enum class PhaseEvent : std::uint8_t {
  opened,       // the sink is told that it begins
  end_due,      // its name is gone, other content has its place, or its lane went on
  end_revoked,  // none of that holds any more
  finished,     // all of it was read, and the sink is told that no more will come
  restarted,    // other content stands there: the next byte is the first one
};

std::string_view to_string(Phase phase);

// The phase after `event`; empty where that must not happen. The whole table is in file_phase.cc.
std::optional<Phase> next_phase(Phase phase, PhaseEvent event);

class FilePhase {
 public:
  FilePhase() = default;
  // As a checkpoint has it: the sink heard of the file before the restart.
  static FilePhase restored(bool finished) {
    return FilePhase(finished ? Phase::revived : Phase::reading);
  }

  Phase now() const { return phase_; }
  bool opened() const { return phase_ != Phase::discovered && phase_ != Phase::skipped; }
  bool finished() const { return phase_ == Phase::finished || phase_ == Phase::revived; }
  bool end_is_due() const {
    return phase_ == Phase::skipped || phase_ == Phase::ending || phase_ == Phase::finished;
  }
  // Nothing more is to be told of it, once it is read to its end.
  bool over() const { return phase_ == Phase::skipped || phase_ == Phase::finished; }

  // The event must be legal in the present phase.
  void on(PhaseEvent event);
  void set_end_due(bool due) { on(due ? PhaseEvent::end_due : PhaseEvent::end_revoked); }

 private:
  explicit FilePhase(Phase phase) : phase_(phase) {}

  Phase phase_ = Phase::discovered;
};

}  // namespace trainwatch
