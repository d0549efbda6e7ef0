// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/usage_seconds.h"

#include <algorithm>
#include <limits>

namespace trainwatch {
namespace {

constexpr auto kSpan = static_cast<std::int64_t>(UsageSeconds::kSeconds);
constexpr auto kRowSpan = static_cast<std::int64_t>(UsageSeconds::kRowSeconds);

}  // namespace

UsageSecond* UsageSeconds::find_or_make(std::int64_t index, std::size_t most_rows) {
  if (index < 0 || index + kSpan <= newest_) return nullptr;
  newest_ = std::max(newest_, index);
  const std::int64_t first = index - index % kRowSpan;
  std::unique_ptr<Row>& row = rows_[row_of(index)];
  if (row == nullptr || row->first != first) {
    if (row != nullptr && row->first > first) return nullptr;
    if (row == nullptr) {
      row = std::make_unique<Row>();
      ++used_;
    }
    *row = Row{.first = first};
    trim(most_rows);
    if (row == nullptr) return nullptr;  // it was the oldest itself
  }
  changed_ |= std::uint64_t{1} << row_of(index);
  const auto second = static_cast<std::size_t>(index - first);
  row->present |= std::uint64_t{1} << second;
  latest_index_ = index;
  return latest_ = &row->seconds[second];
}

const UsageSecond* UsageSeconds::find(std::int64_t index) const {
  if (index < 0 || index > newest_ || index + kSpan <= newest_) return nullptr;
  const Row* const row = rows_[row_of(index)].get();
  const std::int64_t second = index % kRowSpan;
  if (row == nullptr || row->first != index - second) return nullptr;
  return (row->present >> second & 1U) != 0 ? &row->seconds[static_cast<std::size_t>(second)]
                                            : nullptr;
}

std::int64_t UsageSeconds::oldest() const {
  std::int64_t oldest = newest_;
  for (const auto& row : rows_) {
    if (row != nullptr) oldest = std::min(oldest, row->first);
  }
  return std::max(oldest, newest_ - kSpan + 1);
}

void UsageSeconds::trim(std::size_t most_rows) {
  while (used_ > most_rows) {
    std::size_t oldest = kRows;
    for (std::size_t row = 0; row < kRows; ++row) {
      if (rows_[row] == nullptr) continue;
      if (oldest == kRows || rows_[row]->first < rows_[oldest]->first) oldest = row;
    }
    drop(oldest);
  }
}

void UsageSeconds::drop(std::size_t row) {
  rows_[row].reset();
  latest_ = nullptr;
  --used_;
  changed_ |= std::uint64_t{1} << row;
}

void UsageSeconds::row_state(StateIo& io, std::size_t row) {
  if (rows_[row] == nullptr) {
    rows_[row] = std::make_unique<Row>();
    ++used_;
  }
  Row& held = *rows_[row];
  io(held.first);
  io(held.present);
  for (std::size_t second = 0; second < kRowSeconds; ++second) {
    if ((held.present >> second & 1U) == 0) continue;
    io(held.seconds[second]);
    if (io.is_loading() && io.ok()) {
      newest_ = std::max(newest_, held.first + static_cast<std::int64_t>(second));
    }
  }
  const bool plausible = held.first >= 0 && held.first % kRowSpan == 0 &&
                         held.first < std::numeric_limits<std::int64_t>::max() / 2;
  if (!plausible || row_of(held.first) != row) io.fail();
}

}  // namespace trainwatch
