// SPDX-License-Identifier: Apache-2.0
// The phases of a tailed file, and the only place where they change.
//
// A phase answers two questions: which calls the sink has received for the file (none, opened(),
// finished()), and whether its end is due, that is, no more writes are expected. Where the file is,
// and whether it can be read now, are separate questions: see TrackedFile::Presence and ReadHold.
#pragma once

#include <cstdint>
#include <optional>

namespace trainwatch {

enum class Phase : std::uint8_t {
  discovered,  // no sink call yet: nothing of it was read
  skipped,     // discovered, and its end is due: if it is empty, nothing is lost
  reading,     // opened() was called; more may come
  ending,      // reading, and its end is due: finished once everything is read
  finished,    // finished() was called; late growth is still read
  revived,     // finished, but its end is no longer due: its successor has vanished
};

enum class PhaseEvent : std::uint8_t {
  opened,       // opened() is called
  end_due,      // its name is gone, its place has other content, or its lane has a newer file
  end_revoked,  // none of that holds any more
  finished,     // everything was read, and finished() is called
  restarted,    // its content was replaced: the next byte read is its first
};

// The phase after `event`; empty if the event is illegal. The whole table is in file_phase.cc.
std::optional<Phase> next_phase(Phase phase, PhaseEvent event);

class FilePhase {
 public:
  FilePhase() = default;
  // The phase to resume in: before the restart the sink received opened().
  static FilePhase restored(bool finished) {
    return FilePhase(finished ? Phase::revived : Phase::reading);
  }

  Phase now() const { return phase_; }
  bool opened() const { return phase_ != Phase::discovered && phase_ != Phase::skipped; }
  bool finished() const { return phase_ == Phase::finished || phase_ == Phase::revived; }
  bool end_is_due() const {
    return phase_ == Phase::skipped || phase_ == Phase::ending || phase_ == Phase::finished;
  }
  // No more calls are due, once it is read to its end.
  bool over() const { return phase_ == Phase::skipped || phase_ == Phase::finished; }

  // The event must be legal in the current phase.
  void on(PhaseEvent event);
  void set_end_due(bool due) { on(due ? PhaseEvent::end_due : PhaseEvent::end_revoked); }

 private:
  explicit FilePhase(Phase phase) : phase_(phase) {}

  Phase phase_ = Phase::discovered;
};

}  // namespace trainwatch
