// SPDX-License-Identifier: Apache-2.0
// A first-in first-out queue of steps that takes little memory, for each of thousands of ranks has
// one with dozens of steps: what few steps have, such as phases or a change of pace, is kept only
// of those. Most take 72 bytes instead of 176.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class WaitingSteps {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  void push_back(const Step& step);
  void pop_front();
  // None of these if it is empty.
  Step front() const;
  Time oldest_end() const { return oldest_end_; }  // that of front()
  Time newest_end() const { return newest_end_; }  // of the step that was added last

  // Only which steps there are; see save().
  void state(StateIo& io);

  // Puts the steps that came since the last call, in numbered rows of kPerRow, and removes the rows
  // of which no step is left; `all`: puts every one. A rank without waits has hundreds of steps, of
  // which few are new.
  void save(StateRows& rows, const std::string& prefix, bool all);
  // A row, which does not say whose it is.
  struct Row {
    SubjectId subject = SubjectId::none;
    std::uint64_t number = 0;  // of the first step
    std::vector<Step> steps;
  };
  // Fails if the row is damaged. Without steps: the subject is gone.
  static Row load_row(StateIo& io);
  // After state(), in the order of the rows. False: they are not those that were saved.
  bool add(const Row& row);
  bool all_loaded() const { return first_number_ + size_ == saved_to_; }

 private:
  static constexpr std::uint64_t kPerRow = 16;

  void make_room(std::size_t words);
  Time end_of_front() const;

  std::vector<std::uint64_t> words_;  // from first_ on: each step's head, then its numbers
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  Time oldest_end_ = kNoTime;
  Time newest_end_ = kNoTime;
  // Steps and rows are numbered from the first that ever waited.
  std::uint64_t first_number_ = 0;
  std::uint64_t saved_to_ = 0;   // the steps before this one are saved,
  std::uint64_t first_row_ = 0;  // in rows from this one on
};

}  // namespace trainwatch
