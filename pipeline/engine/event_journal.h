// SPDX-License-Identifier: Apache-2.0
// The events that the analyses have received since their whole state was last stored. A commit
// writes these instead of the state: its cost depends on the events, not on the size of the state.
// The journal may become about as large as the state, so that storing that as a whole, too, costs
// no more than the events did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "pipeline/engine/event_codec.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class EventJournal {
 public:
  // Its length is at least the first of these, which a restart replays in some 20 ms, and at most
  // the second, however large the state is.
  static constexpr std::size_t kFewestEvents = 16384;
  static constexpr std::size_t kMostEvents = 524288;
  // Of them in memory, between two commits. If more came, as many are expected until the next one,
  // and none is kept: in a backlog, writing down what is dropped took 4 % of the time.
  static constexpr std::size_t kMostUnsaved = 131072;
  static constexpr std::size_t kEventBytes = 32;  // about, as stored
  // A row is in memory several times while it is written.
  static constexpr std::size_t kMostInRow = 16384;

  template <class OneEvent>
  void add(const OneEvent& event) {
    const bool keeps = !full();
    ++since_commit_;
    if (!keeps) return;
    if (unsaved_rows_.empty() || unsaved_rows_.back().events == kMostInRow) {
      unsaved_rows_.emplace_back();
      codec_.begin_row();
    }
    Row& row = unsaved_rows_.back();
    codec_.write(row.encoded, event);
    ++row.events;
    if (full()) fill();
  }
  // Something other than an event was received: the whole state must be stored, and the events that
  // were not saved are of no use.
  void fill() {
    saved_ = kMostEvents;
    unsaved_rows_.clear();
  }
  // Events are missing, or will be: the whole state must be stored.
  bool full() const { return saved_ + since_commit_ >= most_ || since_commit_ >= kMostUnsaved; }

  // Puts the events added since the last call. Must not be called when full.
  void save(StateRows& rows);
  // The whole state was stored, in so many bytes: the journal starts over.
  void clear(StateRows& rows, std::size_t state_bytes);
  // Only for a new journal, which is full afterwards if anything was stored. Calls `use` for the
  // events in order. False: a row is damaged.
  bool load(const SavedState& saved, const std::function<void(const Event&)>& use);

 private:
  // Events as they are stored, which takes less memory than the events do.
  struct Row {
    std::uint32_t events = 0;
    StateIo encoded = StateIo::saving();
  };

  EventCodec codec_;               // of the last row
  std::vector<Row> unsaved_rows_;  // each but the last of kMostInRow events
  std::size_t since_commit_ = 0;   // number of events, in unsaved_rows_ unless it was full
  std::size_t saved_ = 0;          // number of events
  std::size_t most_ = kFewestEvents;
  std::uint32_t rows_ = 0;  // that contain them
};

}  // namespace trainwatch
