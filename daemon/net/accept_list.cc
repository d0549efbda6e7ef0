#include "daemon/net/accept_list.h"

#include <algorithm>
#include <charconv>

namespace trainwatch {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\"");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\"") - first + 1);
}

std::string_view take_trimmed(std::string_view& rest, char separator) {
  const auto part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  return trimmed(part);
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

std::vector<MediaRange> parse_accept(std::string_view header) {
  std::vector<MediaRange> ranges;
  while (!header.empty()) {
    auto parameters = take_trimmed(header, ',');
    if (parameters.empty()) continue;
    MediaRange range;
    range.type = lower(take_trimmed(parameters, ';'));
    while (!parameters.empty()) {
      auto value = take_trimmed(parameters, ';');
      const auto name = lower(take_trimmed(value, '='));
      if (name == "version") range.version = trimmed(value);
      if (name == "q") range.quality = quality(trimmed(value));
    }
    ranges.push_back(std::move(range));
  }
  return ranges;
}

}  // namespace trainwatch
