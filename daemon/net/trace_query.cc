// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/trace_query.h"

#include <algorithm>
#include <limits>

#include "daemon/net/url.h"

namespace trainwatch {
namespace {

constexpr std::string_view kTrace = "/trace";
constexpr std::size_t kLongestId = 64;

bool take_bound(const std::string& text, std::optional<std::int64_t>& to) {
  const auto number = parse_unsigned(text);
  if (!number || *number > std::numeric_limits<std::int64_t>::max() / 1000) return false;
  to = static_cast<std::int64_t>(*number);
  return true;
}

bool take_parameter(TraceQuery& query, const std::string& name, const std::string& value) {
  if (query.view == TraceView::alert) return false;
  if (name == "job") {
    query.job = value;
    return true;
  }
  if (name == "start") return take_bound(value, query.start);
  if (name == "end") return take_bound(value, query.end);
  if (name != "unit" || query.view != TraceView::timeline) return false;
  query.unit = value == "step" ? TraceQuery::Unit::step : TraceQuery::Unit::time;
  return value == "step" || value == "time";
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// The ID of "/api/v1/alerts/ID/trace"; empty if it is none.
std::string alert_of(std::string_view path) {
  if (!path.starts_with(kAlertTraces) || !path.ends_with(kTrace)) return {};
  path.remove_prefix(kAlertTraces.size());
  path.remove_suffix(std::min(path.size(), kTrace.size()));
  const bool is_id = path.size() <= kLongestId && std::ranges::all_of(path, is_hex);
  return is_id ? std::string(path) : std::string();
}

}  // namespace

Result<TraceQuery> parse_trace_query(std::string_view path, std::string_view text) {
  const auto parameters = parse_query(text);
  if (!parameters) return parameters.error();
  TraceQuery query;
  if (path == kAnnotationsPath) query.view = TraceView::annotations;
  if (path.starts_with(kAlertTraces)) {
    query.view = TraceView::alert;
    query.alert = alert_of(path);
  }
  for (const auto& [name, value] : *parameters) {
    if (!take_parameter(query, name, value)) return invalid_parameter(name);
  }
  if (query.start && query.end && *query.end <= *query.start)
    return Error{"'end' must be later than 'start'"};
  return query;
}

}  // namespace trainwatch
