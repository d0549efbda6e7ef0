// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/accept.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "trainwatch/trimmed.h"

namespace trainwatch {
namespace {

constexpr std::string_view kBlanks = " \t\"";

std::string_view take_trimmed(std::string_view& rest, char separator) {
  const auto part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  return trimmed(part, kBlanks);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

double quality(std::string_view text) {
  double q = 0;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, q).ptr != end || text.empty()) return 0;
  return q >= 0 && q <= 1 ? q : 0;
}

}  // namespace

std::string_view AcceptedRange::parameter(std::string_view name) const {
  const auto found = std::ranges::find(
      parameters, name, [](const auto& each) { return std::string_view(each.first); });
  return found == parameters.end() ? std::string_view{} : std::string_view(found->second);
}

std::vector<AcceptedRange> parse_accept(std::string_view header) {
  std::vector<AcceptedRange> ranges;
  while (!header.empty()) {
    auto parameters = take_trimmed(header, ',');
    if (parameters.empty()) continue;
    AcceptedRange range;
    range.type = lower(take_trimmed(parameters, ';'));
    while (!parameters.empty()) {
      auto value = take_trimmed(parameters, ';');
      auto name = lower(take_trimmed(value, '='));
      if (name == "q") {
        range.quality = quality(trimmed(value, kBlanks));
      } else {
        range.parameters.emplace_back(std::move(name), trimmed(value, kBlanks));
      }
    }
    ranges.push_back(std::move(range));
  }
  return ranges;
}

bool accepts_gzip(std::string_view header) {
  std::optional<double> gzip;
  double any = 0;
  for (const AcceptedRange& range : parse_accept(header)) {
    if (range.type == "gzip" || range.type == "x-gzip") gzip = range.quality;
    if (range.type == "*") any = range.quality;
  }
  return gzip.value_or(any) > 0;
}

}  // namespace trainwatch
