// SPDX-License-Identifier: Apache-2.0
// What the CPUs and GPUs of one node were doing, second by second of event time, for the last
// seconds. Memory is taken a minute at a time, and only for minutes that have samples.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "trainwatch/state_io.h"

namespace trainwatch {

struct UsageSecond {
  static constexpr std::size_t kLimits = 4;
  static constexpr float kNone = -1;
  float cpu_sum = 0, cpu_max = 0, io_max = 0, gpu_sum = 0;
  std::array<float, kLimits> limits{kNone, kNone, kNone, kNone};  // the largest sample
  std::uint16_t cpu_count = 0, gpu_count = 0;  // samples; those beyond 65,535 are left out
  std::uint16_t throttle_count = 0;            // samples of the reasons
  std::uint16_t throttled = 0;                 // of these, with one that holds a clock back
};

class UsageSeconds {
 public:
  static constexpr std::size_t kRowSeconds = 64;
  static constexpr std::size_t kRows = 64;
  static constexpr std::size_t kSeconds = kRowSeconds * kRows;  // of history, at most

  // The second `index` since the epoch, made if new; null: it lies too far back. At most
  // `most_rows` (1..kRows) are kept, the latest.
  UsageSecond* at(std::int64_t index, std::size_t most_rows) {
    return latest_ != nullptr && index == latest_index_ ? latest_ : find_or_make(index, most_rows);
  }
  // Null: it has no samples, or is no longer kept.
  const UsageSecond* find(std::int64_t index) const;

  std::int64_t newest() const { return newest_; }  // -1: there are none
  // Of what is kept, the first second that may be known.
  std::int64_t oldest() const;
  std::size_t rows() const { return used_; }
  void trim(std::size_t most_rows);

  // Calls use(row, removed) for each row that changed since the last call.
  template <class Use>
  void take_changed(Use&& use) {
    for (std::size_t row = 0; row < kRows; ++row) {
      if ((changed_ >> row & 1U) != 0) use(row, rows_[row] == nullptr);
    }
    changed_ = 0;
    latest_ = nullptr;
  }
  bool changed() const { return changed_ != 0; }
  bool has_row(std::size_t row) const { return rows_[row] != nullptr; }
  // One row, which is made if loading; fails on impossible values.
  void row_state(StateIo& io, std::size_t row);

 private:
  struct Row {
    std::int64_t first = 0;     // second since the epoch, a multiple of kRowSeconds
    std::uint64_t present = 0;  // a bit per second
    std::array<UsageSecond, kRowSeconds> seconds{};
  };

  static std::size_t row_of(std::int64_t index) {
    return static_cast<std::size_t>(index) / kRowSeconds % kRows;
  }
  UsageSecond* find_or_make(std::int64_t index, std::size_t most_rows);
  void drop(std::size_t row);

  std::array<std::unique_ptr<Row>, kRows> rows_;
  std::size_t used_ = 0;
  std::int64_t newest_ = -1;
  std::uint64_t changed_ = 0;       // a bit per row
  UsageSecond* latest_ = nullptr;   // that at() returned last, if its row is among them
  std::int64_t latest_index_ = -1;  // of it
};

}  // namespace trainwatch
