// SPDX-License-Identifier: Apache-2.0
// What one tag of one rank was over time, in bounded room: the newest values one by one, older ones
// in groups of equally many. Of a group the lowest, the highest and the last finite value are kept,
// and the first that is not finite, so that spikes and NaN stay visible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_rows.h"
#include "trainwatch/time.h"

namespace trainwatch {

struct ScalarPoint {
  std::int64_t step = kNoStep;
  Time at{};
  double value = 0;          // NaN and infinities as written
  std::uint64_t covers = 1;  // values that it stands for; of a group, its last point has them all
};

class ScalarPoints {
 public:
  // Adds a value at its place in time, after others of the same time. With more than `most` points,
  // at least 16, older ones are put together.
  void add(const ScalarPoint& point, std::size_t most);
  // So that there are at most `most` points.
  void keep(std::size_t most);
  void clear();

  // By time.
  const std::vector<ScalarPoint>& points() const { return points_; }
  // Where attempts begin, but for the first: the step is lower than at the point before, as after a
  // resume from a checkpoint.
  std::vector<std::size_t> restarts() const;

  // Puts the rows that changed since the last call; `all`: every one.
  void save(StateRows& rows, const std::string& prefix, bool all);
  // Removes the rows of one that is no longer there.
  void remove(StateRows& rows, const std::string& prefix) const;
  // Only for a new one. False: a row is damaged, or there are more than `most` points.
  bool load(const SavedState& saved, const std::string& prefix, std::size_t most);

 private:
  static constexpr std::size_t kPerRow = 32;

  // Puts the points before `end` together in groups of width_ values.
  void put_together(std::size_t end);
  void row_state(StateIo& io, std::size_t row);

  std::vector<ScalarPoint> points_;
  std::uint64_t width_ = 1;  // values in a group
  // Since the last save().
  std::size_t changed_from_ = 0;  // points that are as they were
  std::size_t stored_ = 0;        // points that are stored
};

}  // namespace trainwatch
