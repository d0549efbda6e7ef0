// SPDX-License-Identifier: Apache-2.0
// The latest iterations of a job, one by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "trainwatch/event.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class StepLog {
 public:
  // Adds a step and keeps the last `most`.
  void add(const Step& step, std::size_t most) {
    steps_.push_back(step);
    while (steps_.size() > most) {
      steps_.pop_front();
      ++begin_;
    }
  }
  void clear() {
    begin_ = end();
    steps_.clear();
  }
  // In the order in which they became complete.
  const std::deque<Step>& steps() const { return steps_; }

  // Puts the rows that changed since the last call; `all`: every one.
  void save(StateRows& rows, const std::string& prefix, bool all) {
    const std::int64_t first = begin_ / kPerRow;
    for (; first_row_ < first; ++first_row_) rows.remove(key(prefix, first_row_));
    if (!all && end() == saved_end_) return;
    const std::int64_t from = all ? first : std::max(first, saved_end_ / kPerRow);
    for (std::int64_t row = from; row * kPerRow < end(); ++row) {
      rows.put(key(prefix, row), [&](StateIo& io) { save_row(io, row); });
    }
    saved_end_ = end();
  }
  // Removes the rows of a log that is no longer there.
  void remove(StateRows& rows, const std::string& prefix) const {
    for (std::int64_t row = first_row_; row * kPerRow < end(); ++row) rows.remove(key(prefix, row));
  }
  // Only for a new log. False: a row is damaged.
  bool load(const SavedState& saved, const std::string& prefix) {
    const bool whole = for_rows(saved, prefix, [&](std::string_view, std::string_view value) {
      StateIo io = saved.open(value);
      return load_row(io);
    });
    saved_end_ = end();
    first_row_ = begin_ / kPerRow;
    return whole;
  }

 private:
  static constexpr std::int64_t kPerRow = 16;

  static std::string key(const std::string& prefix, std::int64_t row) {
    return numbered_row(prefix, static_cast<std::uint64_t>(row));
  }
  // Number of the step that comes next.
  std::int64_t end() const { return begin_ + static_cast<std::int64_t>(steps_.size()); }

  void save_row(StateIo& io, std::int64_t row) {
    std::int64_t to = std::min(end(), (row + 1) * kPerRow);
    const std::int64_t from = std::max(begin_, row * kPerRow);
    auto count = static_cast<std::uint32_t>(to - from);
    io(to);
    io(count);
    for (std::int64_t i = from; i < to; ++i) io(steps_[static_cast<std::size_t>(i - begin_)]);
  }
  // Leaves out the steps of ranks that are gone.
  bool load_row(StateIo& io) {
    std::int64_t to = 0;
    std::uint32_t count = 0;
    io(to);
    io(count);
    if (!io.ok() || count > kPerRow || to < 0) return false;
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      io(steps_.emplace_back());
      if (io.take_gone()) steps_.pop_back();
    }
    begin_ = to - static_cast<std::int64_t>(steps_.size());
    return io.complete() && begin_ >= 0;
  }

  std::deque<Step> steps_;
  std::int64_t begin_ = 0;      // number of the first step, of all that were added
  std::int64_t saved_end_ = 0;  // end() at the last save
  std::int64_t first_row_ = 0;  // of those that are stored
};

}  // namespace trainwatch
