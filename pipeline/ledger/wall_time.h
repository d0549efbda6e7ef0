// SPDX-License-Identifier: Apache-2.0
// The ledger over time: into which parts the wall time of a run went, in columns of equal width, as
// the page draws it and as it is asked what was lost while an alert lasted.
//
// Bounded: the whole run in at most kWhole columns, and when these are wider than a second, the
// last kRecent seconds.
#pragma once

#include <cstddef>
#include <string>

#include "pipeline/analysis/history/chart_columns.h"
#include "pipeline/analysis/history/time_columns.h"
#include "trainwatch/life_part.h"
#include "trainwatch/state_rows.h"
#include "trainwatch/time.h"

namespace trainwatch {

// A time and how it was spent: the parts sum to its length.
struct SpentTime {
  Time from{};
  Time to{};
  PartSeconds parts;
};

class WallTime {
 public:
  static constexpr std::size_t kRecent = 256;
  static constexpr std::size_t kWhole = 512;

  // Evenly over its time.
  void add(const SpentTime& spent);
  void clear();

  // How the time between the two was spent, as exactly as the columns are fine: no part is longer
  // than that time.
  PartSeconds spent(Time from, Time to) const;
  // From the finest columns that cover the range.
  ColumnChart<PartSeconds> chart(const ChartRange& range) const;

  // Rows whose keys begin with `prefix`.
  void save(StateRows& rows, const std::string& prefix, bool all);
  // Removes the rows of one that is no longer there.
  void remove(StateRows& rows, const std::string& prefix);
  // Only for a new one. False: a row is damaged.
  bool load(const SavedState& saved, const std::string& prefix);

 private:
  using Columns = TimeColumns<PartSeconds>;
  const Columns& covering(Time from) const;

  Columns recent_{Columns::Keeps::latest, std::chrono::seconds(1), kRecent};
  Columns whole_{Columns::Keeps::everything, std::chrono::seconds(1), kWhole};
};

}  // namespace trainwatch
