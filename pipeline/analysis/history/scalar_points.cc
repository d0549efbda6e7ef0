// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/history/scalar_points.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "trainwatch/insert_sorted.h"

namespace trainwatch {
namespace {

std::string point_row(const std::string& prefix, std::size_t row) {
  return numbered_row(prefix, row);
}

// Appends what is kept of a group.
void append_kept(std::span<const ScalarPoint> group, std::vector<ScalarPoint>& to) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t lowest = kNone;
  std::size_t highest = kNone;
  std::size_t not_finite = kNone;
  std::uint64_t covers = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    covers += group[i].covers;
    if (!std::isfinite(group[i].value)) {
      if (not_finite == kNone) not_finite = i;
      continue;
    }
    if (lowest == kNone || group[i].value < group[lowest].value) lowest = i;
    if (highest == kNone || group[i].value > group[highest].value) highest = i;
  }
  const std::size_t last = group.size() - 1;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (i != lowest && i != highest && i != not_finite && i != last) continue;
    to.push_back(group[i]);
    to.back().covers = i == last ? covers : 0;
  }
}

}  // namespace

void ScalarPoints::add(const ScalarPoint& point, std::size_t most) {
  const auto place = insert_sorted(points_, point, &ScalarPoint::at);
  changed_from_ = std::min(changed_from_, static_cast<std::size_t>(place - points_.begin()));
  if (points_.size() > most) keep(most);
}

void ScalarPoints::keep(std::size_t most) {
  if (points_.size() <= most) return;
  const std::size_t single = most / 4;       // the newest
  const std::size_t enough = most - single;  // room for as many again
  put_together(points_.size() - single);
  while (points_.size() > enough) {
    width_ *= 2;
    put_together(points_.size() - single);
  }
  changed_from_ = 0;
}

void ScalarPoints::clear() {
  points_.clear();
  width_ = 1;
  changed_from_ = 0;
}

void ScalarPoints::put_together(std::size_t end) {
  std::vector<ScalarPoint> kept;
  kept.reserve(points_.size());
  const std::span<const ScalarPoint> older(points_.data(), end);
  std::size_t begin = 0;
  std::uint64_t covers = 0;
  for (std::size_t i = 0; i < end; ++i) {
    covers += older[i].covers;
    if (covers < width_ && i + 1 < end) continue;
    append_kept(older.subspan(begin, i + 1 - begin), kept);
    begin = i + 1;
    covers = 0;
  }
  kept.insert(kept.end(), points_.begin() + static_cast<std::ptrdiff_t>(end), points_.end());
  points_ = std::move(kept);
}

std::vector<std::size_t> ScalarPoints::restarts() const {
  std::vector<std::size_t> found;
  std::int64_t latest = kNoStep;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (points_[i].step == kNoStep) continue;
    if (points_[i].step < latest) found.push_back(i);
    latest = points_[i].step;
  }
  return found;
}

void ScalarPoints::save(StateRows& rows, const std::string& prefix, bool all) {
  const std::size_t from = all ? 0 : changed_from_ / kPerRow;
  const bool changed = all || changed_from_ < points_.size() || stored_ != points_.size();
  for (std::size_t row = from; changed && row * kPerRow < points_.size(); ++row) {
    rows.put(point_row(prefix, row), [&](StateIo& io) { row_state(io, row); });
  }
  const std::size_t used = (points_.size() + kPerRow - 1) / kPerRow;
  for (std::size_t row = used; row * kPerRow < stored_; ++row) rows.remove(point_row(prefix, row));
  changed_from_ = stored_ = points_.size();
}

void ScalarPoints::remove(StateRows& rows, const std::string& prefix) const {
  for (std::size_t row = 0; row * kPerRow < stored_; ++row) rows.remove(point_row(prefix, row));
}

void ScalarPoints::row_state(StateIo& io, std::size_t row) {
  const std::size_t begin = row * kPerRow;
  auto count = static_cast<std::uint32_t>(
      std::min(kPerRow, io.is_loading() ? kPerRow : points_.size() - begin));
  io(width_);
  io(count);
  if (count > kPerRow || width_ == 0) io.fail();
  for (std::size_t i = begin; i < begin + count && io.ok(); ++i) {
    if (io.is_loading()) points_.emplace_back();
    ScalarPoint& point = points_[i];
    io(point);
    if (!is_possible(point.at) || point.step < kNoStep) io.fail();
  }
}

bool ScalarPoints::load(const SavedState& saved, const std::string& prefix, std::size_t most) {
  const bool whole = for_rows(saved, prefix, [&](std::string_view, std::string_view value) {
    if (points_.size() % kPerRow != 0) return false;
    StateIo io = saved.open(value);
    row_state(io, points_.size() / kPerRow);
    return io.complete() && points_.size() <= most;
  });
  changed_from_ = stored_ = points_.size();
  return whole && std::ranges::is_sorted(points_, {}, &ScalarPoint::at);
}

}  // namespace trainwatch
