// The events that the analyses took since their state was last stored whole. A commit writes these
// instead of the state: it costs what the events are, whatever the analyses remember.
#pragma once

#include <cstddef>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_rows.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

class AnalysisLog {
 public:
  // Beyond these the state is stored whole. A restart goes through them again, in some 20 ms.
  static constexpr std::size_t kMostEvents = 16384;

  explicit AnalysisLog(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void add(const Event& event) {
    if (!full()) unsaved_.push_back(event);
  }
  // What is no event was taken: the state has to be stored whole.
  void fill() { saved_ = kMostEvents; }
  // Events are missing, or will be: the state has to be stored whole.
  bool full() const { return saved_ + unsaved_.size() >= kMostEvents; }

  // Puts what was added since the last call. Not when it is full.
  void save(StateRows& rows);
  // The state was stored whole: nothing of the log is needed any more.
  void clear(StateRows& rows);
  // Only for a new log, which is full then if anything was stored: the events in their order.
  // False: a row is damaged.
  bool load(const StoredRows& rows, std::vector<Event>& events);

 private:
  const Vocabulary& vocabulary_;
  std::vector<Event> unsaved_;
  std::size_t saved_ = 0;   // events
  std::uint32_t rows_ = 0;  // that hold them
};

}  // namespace trainwatch
