// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/hta/durations_by_name.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>

namespace trainwatch {
namespace {

struct Group {
  NameId name{};
  std::int64_t sum_ns = 0;
  std::size_t begin = 0;  // of its rows
  std::size_t end = 0;
};

class Accumulator {
 public:
  void add(std::span<const NamedDuration> rows) {
    for (const NamedDuration& row : rows) {
      ++stats_.count;
      stats_.sum_ns += row.duration_ns;
      stats_.max_ns = std::max(stats_.max_ns, row.duration_ns);
      stats_.min_ns = std::min(stats_.min_ns, row.duration_ns);
      const auto value = static_cast<double>(row.duration_ns);
      const double off = value - mean_;  // Welford 1962
      mean_ += off / static_cast<double>(stats_.count);
      squares_ += off * (value - mean_);
    }
  }
  DurationStats stats() const {
    DurationStats found = stats_;
    const auto n = static_cast<double>(found.count);
    found.mean_ns = static_cast<double>(found.sum_ns) / n;
    if (found.count > 1) found.stddev_ns = std::sqrt(squares_ / (n - 1));
    return found;
  }

 private:
  DurationStats stats_{0, 0, std::numeric_limits<std::int64_t>::min(),
                       std::numeric_limits<std::int64_t>::max()};
  double mean_ = 0;
  double squares_ = 0;
};

std::vector<Group> groups_of(const std::vector<NamedDuration>& rows) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (groups.empty() || groups.back().name != rows[i].name)
      groups.push_back({rows[i].name, 0, i, i});
    groups.back().sum_ns += rows[i].duration_ns;
    groups.back().end = i + 1;
  }
  return groups;
}

}  // namespace

std::string cut_name(std::string_view name) {
  if (name.size() <= kLongestName) return std::string(name);
  std::size_t end = kLongestName;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(name[at]) & 0xC0U) == 0x80U;
  };
  while (end > 0 && continues(end)) --end;
  return std::string(name.substr(0, end));
}

std::vector<NameStats> durations_by_name(const NameTable& names, std::vector<NamedDuration> rows,
                                         std::size_t most) {
  // In place: these are as many as there are kernels.
  std::sort(rows.begin(), rows.end(), [](const NamedDuration& a, const NamedDuration& b) {
    return std::tuple(a.name, a.duration_ns) < std::tuple(b.name, b.duration_ns);
  });
  std::vector<Group> groups = groups_of(rows);
  std::sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
    if (a.sum_ns != b.sum_ns) return a.sum_ns > b.sum_ns;
    return names.text(a.name) < names.text(b.name);
  });
  std::vector<NameStats> found;
  Accumulator others;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto own = std::span(rows).subspan(groups[i].begin, groups[i].end - groups[i].begin);
    if (i >= most) {
      others.add(own);
      continue;
    }
    Accumulator accumulator;
    accumulator.add(own);
    found.push_back({cut_name(names.text(groups[i].name)), accumulator.stats()});
  }
  if (groups.size() > most) found.push_back({kOtherNames, others.stats()});
  return found;
}

}  // namespace trainwatch
