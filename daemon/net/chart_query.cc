// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/chart_query.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "daemon/net/url.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostLast = 10'000;
constexpr std::size_t kMostTags = 64;
constexpr std::uint32_t kMostAttempt = std::numeric_limits<std::uint32_t>::max();
constexpr std::string_view kHeatmap = "/api/v1/heatmap";
constexpr std::string_view kHistogram = "/api/v1/histogram";
constexpr std::string_view kScalars = "/api/v1/scalars";

std::optional<Time> parse_micros(const std::string& text) {
  const auto micros = parse_unsigned(text);
  if (!micros || *micros > std::numeric_limits<std::int64_t>::max() / 1000) return std::nullopt;
  return Time{std::chrono::microseconds(static_cast<std::int64_t>(*micros))};
}

template <class Number>
bool take_number(const std::string& text, Number most, Number& to) {
  const auto number = parse_unsigned(text);
  if (!number || *number == 0) return false;
  to = static_cast<Number>(std::min<std::uint64_t>(*number, most));
  return true;
}

bool take_time(const std::string& text, Time& to) {
  const auto time = parse_micros(text);
  if (time) to = *time;
  return time.has_value();
}

bool take_what(std::string_view path, const std::string& what, ChartView& view) {
  if (path == kHeatmap) {
    constexpr std::pair<std::string_view, ChartView> kMaps[] = {
        {"ranks", ChartView::rank_map},
        {"utilization", ChartView::usage_map},
        {"wall_time", ChartView::wall_time}};
    const auto* const found =
        std::ranges::find(kMaps, what, [](const auto& map) { return map.first; });
    if (found == std::end(kMaps)) return false;
    view = found->second;
    return true;
  }
  view = what == "utilization" ? ChartView::usage_histogram : ChartView::step_histogram;
  return path == kHistogram && (what == "steps" || what == "utilization");
}

// `tag` may be there several times.
bool apply_to_scalars(ChartQuery& query, const std::string& name, const std::string& value) {
  if (name == "last") return take_number(value, kMostLast, query.last);
  if (name != "tag" || value.empty() || query.tags.size() == kMostTags) return false;
  query.tags.push_back(value);
  return true;
}

bool apply_parameter(std::string_view path, ChartQuery& query, const std::string& name,
                     const std::string& value) {
  if (name == "job") {
    query.job = value;
    return true;
  }
  if (query.view == ChartView::scalars) return apply_to_scalars(query, name, value);
  if (name == "start") return take_time(value, query.range.from);
  if (name == "end") return take_time(value, query.range.to);
  if (name == "columns") return take_number(value, ChartRange::kMostColumns, query.range.columns);
  if (name == "attempt") return take_number(value, kMostAttempt, query.range.attempt);
  if (name == "what") return take_what(path, value, query.view);
  if (name != "last" || query.view != ChartView::steps) return false;
  query.view = ChartView::last_steps;
  return take_number(value, kMostLast, query.last);
}

}  // namespace

Result<ChartQuery> parse_chart_query(std::string_view path, std::string_view text) {
  const auto parameters = parse_query(text);
  if (!parameters) return parameters.error();
  ChartQuery query;
  if (path == kHeatmap) query.view = ChartView::usage_map;
  if (path == kHistogram) query.view = ChartView::step_histogram;
  if (path == kScalars) query.view = ChartView::scalars;
  for (const auto& [name, value] : *parameters) {
    if (!apply_parameter(path, query, name, value)) return invalid_parameter(name);
  }
  if (query.range.to <= query.range.from) return Error{"'end' must be later than 'start'"};
  return query;
}

}  // namespace trainwatch
