// SPDX-License-Identifier: Apache-2.0
// What happened in intervals of equal width, as a chart draws it: one Column for each interval in
// which anything did. Bounded in one of two ways:
//
//   latest      the last `most` intervals are kept
//   everything  all of them are; when they would be more than `most`, the width doubles and two
//               neighbours become one column
//
// A Column has merge(const Column&), which adds another one, and state(StateIo&).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "trainwatch/state_rows.h"
#include "trainwatch/time.h"

namespace trainwatch {

template <class Column>
class TimeColumns {
 public:
  enum class Keeps : std::uint8_t { latest, everything };

  // `most` is at least 2.
  TimeColumns(Keeps keeps, Nanos width, std::size_t most)
      : keeps_(keeps), most_(static_cast<std::int64_t>(most)), width_(width) {}

  // The column of `time`, made if new; null: it is older than what is kept. Valid until the next
  // call.
  Column* at(Time time) {
    const bool known = latest_.column != nullptr && latest_begin_ <= time && time < latest_end_;
    return known && latest_changed_ ? latest_.column : find(time);
  }

  // Forgets all columns, and keeps the width.
  void clear() {
    for (const auto& [index, column] : columns_) note_removed(index / kPerRow);
    columns_.clear();
    changed_.clear();
    latest_.column = nullptr;
  }

  bool empty() const { return columns_.empty(); }
  Nanos width() const { return width_; }
  // Of the first and after the last column; only if there is one.
  Time begin() const { return start_of(columns_.begin()->first); }
  Time end() const { return start_of(columns_.rbegin()->first) + width_; }

  // Calls use(start, column) for the columns that touch [from, to), in order.
  template <class Use>
  void each(Time from, Time to, Use&& use) const {
    for (auto it = columns_.lower_bound(from < Time{} ? 0 : index_of(from));
         it != columns_.end() && start_of(it->first) < to; ++it) {
      use(start_of(it->first), it->second);
    }
  }

  // The same for changing them.
  template <class Use>
  void change(Time from, Time to, Use&& use) {
    for (auto it = columns_.lower_bound(from < Time{} ? 0 : index_of(from));
         it != columns_.end() && start_of(it->first) < to; ++it) {
      use(start_of(it->first), it->second);
      changed_.insert(it->first / kPerRow);
    }
  }

  // Puts what changed since the last call; `all`: everything.
  void save(StateRows& rows, const std::string& prefix, bool all) {
    for (const std::int64_t row : removed_) rows.remove(key(prefix, row));
    if (all) {
      for (const auto& [index, column] : columns_) changed_.insert(index / kPerRow);
    }
    if (all || !width_saved_) rows.put(prefix + "width", [this](StateIo& io) { io(width_); });
    width_saved_ = true;
    saved_ = true;
    for (const std::int64_t row : changed_) {
      rows.put(key(prefix, row), [&](StateIo& io) { row_state(io, row); });
    }
    removed_.clear();
    changed_.clear();
    latest_changed_ = false;
  }

  // Removes the rows of one that is no longer there.
  void remove(StateRows& rows, const std::string& prefix) {
    clear();
    for (const std::int64_t row : removed_) rows.remove(key(prefix, row));
    rows.remove(prefix + "width");
  }
  // Only for a new one. False: a row is damaged.
  bool load(const SavedState& saved, const std::string& prefix) {
    if (!saved.rows.contains(prefix + "width")) return true;
    if (!load_row(saved, prefix + "width", [this](StateIo& io) { io(width_); })) return false;
    if (width_ <= Nanos{}) return false;
    const bool whole =
        for_rows(saved, prefix + "at/", [&](std::string_view number, std::string_view value) {
          const auto row = number_in<std::int64_t>(number);
          if (!row) return false;
          StateIo io = saved.open(value);
          row_state(io, *row);
          return io.complete();
        });
    width_saved_ = true;
    saved_ = true;
    return whole && span() <= most_;
  }

 private:
  // A column of this object: a copy, which has columns of its own, begins without.
  struct Latest {
    Latest() = default;
    Latest(const Latest&) {}
    Latest& operator=(const Latest& other) {
      if (this != &other) column = nullptr;
      return *this;
    }
    ~Latest() = default;

    Column* column = nullptr;
  };

  // at() for any column but the latest, and for that if it is not marked as changed.
  [[gnu::noinline]] Column* find(Time time) {
    if (time < Time{} || !make_room(index_of(time))) return nullptr;
    const std::int64_t index = index_of(time);
    latest_.column = &columns_[index];
    latest_begin_ = start_of(index);
    latest_end_ = latest_begin_ + width_;
    if (keeps_ == Keeps::latest) forget_before(columns_.rbegin()->first - most_ + 1);
    changed_.insert(index / kPerRow);
    latest_changed_ = true;
    return latest_.column;
  }

  // Columns that are stored together: a commit writes the newest ones again.
  static constexpr std::int64_t kPerRow = 4;

  static std::string key(const std::string& prefix, std::int64_t row) {
    return numbered_row(prefix + "at/", static_cast<std::uint64_t>(row));
  }
  std::int64_t index_of(Time time) const { return time.time_since_epoch() / width_; }
  Time start_of(std::int64_t index) const { return Time{index * width_}; }
  std::int64_t span() const {
    return columns_.empty() ? 0 : columns_.rbegin()->first - columns_.begin()->first + 1;
  }

  // So that the column may be made. False: it is older than what is kept.
  bool make_room(std::int64_t index) {
    if (columns_.empty()) return true;
    if (keeps_ == Keeps::latest) return index > columns_.rbegin()->first - most_;
    const std::int64_t first = std::min(columns_.begin()->first, index);
    const std::int64_t last = std::max(columns_.rbegin()->first, index);
    int doublings = 0;
    while ((last >> doublings) - (first >> doublings) >= most_) ++doublings;
    if (doublings > 0) widen(doublings);
    return true;
  }

  void widen(int doublings) {
    for (const auto& [index, column] : columns_) note_removed(index / kPerRow);
    std::map<std::int64_t, Column> wider;
    for (auto& [index, column] : columns_) {
      const auto [known, is_new] = wider.try_emplace(index >> doublings, std::move(column));
      if (!is_new) known->second.merge(column);
    }
    columns_ = std::move(wider);
    latest_.column = nullptr;
    width_ *= std::int64_t{1} << doublings;
    width_saved_ = false;
    changed_.clear();
    for (const auto& [index, column] : columns_) changed_.insert(index / kPerRow);
  }

  // A replay saves nothing, and need not know.
  void note_removed(std::int64_t row) {
    if (saved_) removed_.insert(row);
  }

  void forget_before(std::int64_t first) {
    while (columns_.begin()->first < first) {
      const std::int64_t row = columns_.begin()->first / kPerRow;
      columns_.erase(columns_.begin());
      const bool is_last = columns_.begin()->first / kPerRow != row;
      if (!is_last) {
        changed_.insert(row);
        continue;
      }
      note_removed(row);
      changed_.erase(row);
    }
  }

  void row_state(StateIo& io, std::int64_t row) {
    const auto first = columns_.lower_bound(row * kPerRow);
    const auto last = columns_.lower_bound((row + 1) * kPerRow);
    auto count = static_cast<std::uint32_t>(std::distance(first, last));
    io(count);
    if (count > kPerRow) io.fail();
    auto saved = first;
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      std::int64_t index = io.is_loading() ? 0 : saved->first;
      io(index);
      if (index < 0 || index / kPerRow != row || index > kMostIndex / width_.count()) io.fail();
      if (!io.ok()) return;
      io(io.is_loading() ? columns_[index] : saved->second);
      if (!io.is_loading()) ++saved;
    }
  }

  static constexpr std::int64_t kMostIndex = std::numeric_limits<std::int64_t>::max() / 2;

  Keeps keeps_;
  std::int64_t most_;
  Nanos width_;
  std::map<std::int64_t, Column> columns_;  // by time / width_
  Latest latest_;                           // that at() returned last
  Time latest_begin_{};                     // of it
  Time latest_end_{};
  bool latest_changed_ = false;  // its row is in changed_
  // Rows since the last save().
  std::set<std::int64_t> changed_;
  std::set<std::int64_t> removed_;
  bool width_saved_ = false;
  bool saved_ = false;  // ever
};

}  // namespace trainwatch
