// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ledger/wall_time.h"

#include <algorithm>

namespace trainwatch {
namespace {

Time next_column(Time time, Nanos width) {
  return Time{(time.time_since_epoch() / width + 1) * width};
}

void spread(TimeColumns<PartSeconds>& columns, Time from, const SpentTime& spent) {
  const double length = to_seconds(spent.to - spent.from);
  // How wide the columns are depends on the first and the last.
  PartSeconds* const last = columns.at(spent.to - Nanos{1});
  if (last != nullptr && from == spent.from && next_column(from, columns.width()) >= spent.to)
    return last->merge(spent.parts);
  columns.at(from);
  while (from < spent.to) {
    const Time end = std::min(next_column(from, columns.width()), spent.to);
    if (PartSeconds* const column = columns.at(from))
      column->add(spent.parts, to_seconds(end - from) / length);
    from = end;
  }
}

}  // namespace

void WallTime::add(const SpentTime& spent) {
  if (spent.from < Time{} || spent.to <= spent.from) return;
  spread(whole_, spent.from, spent);
  if (whole_.width() == recent_.width()) return;  // that is as fine
  const auto kept = static_cast<std::int64_t>(kRecent) * recent_.width();
  spread(recent_, std::max(spent.from, spent.to - kept), spent);
}

void WallTime::clear() {
  recent_.clear();
  whole_.clear();
}

const WallTime::Columns& WallTime::covering(Time from) const {
  return !recent_.empty() && from >= recent_.begin() ? recent_ : whole_;
}

PartSeconds WallTime::spent(Time from, Time to) const {
  const Columns& columns = covering(from);
  PartSeconds sum;
  columns.each(from, to, [&](Time start, const PartSeconds& column) {
    const Nanos within = std::min(start + columns.width(), to) - std::max(start, from);
    const double most = std::max(to_seconds(within), 0.0);
    for (std::size_t i = 0; i < kLifeParts; ++i)
      sum.seconds[i] += std::min(column.seconds[i], most);
  });
  return sum;
}

ColumnChart<PartSeconds> WallTime::chart(const ChartRange& range) const {
  return chart_of(covering(range.from), range);
}

void WallTime::save(StateRows& rows, const std::string& prefix, bool all) {
  recent_.save(rows, prefix + "recent/", all);
  whole_.save(rows, prefix + "whole/", all);
}

void WallTime::remove(StateRows& rows, const std::string& prefix) {
  recent_.remove(rows, prefix + "recent/");
  whole_.remove(rows, prefix + "whole/");
}

bool WallTime::load(const SavedState& saved, const std::string& prefix) {
  return recent_.load(saved, prefix + "recent/") && whole_.load(saved, prefix + "whole/");
}

}  // namespace trainwatch
