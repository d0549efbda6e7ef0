// Ranks as a person writes them: "0-3,7".
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace trainwatch {

// `ranks` ascend, each once.
template <class Ranks = std::set<std::int32_t>>
std::string rank_ranges(const Ranks& ranks) {
  std::string text;
  for (auto rank = ranks.begin(); rank != ranks.end();) {
    const std::int32_t first = *rank;
    std::int32_t last = first;
    while (++rank != ranks.end() && *rank == last + 1) last = *rank;
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last != first) text += '-' + std::to_string(last);
  }
  return text;
}

// How many ranks a text of rank_ranges() lists; 0 for anything else.
inline std::size_t count_ranks(std::string_view ranges) {
  std::size_t count = 0;
  while (!ranges.empty()) {
    const std::size_t end = std::min(ranges.find(','), ranges.size());
    const std::string_view range = ranges.substr(0, end);
    std::int32_t first = 0;
    const auto begun = std::from_chars(range.begin(), range.end(), first);
    std::int32_t last = first;
    if (begun.ptr != range.end() && *begun.ptr == '-')
      std::from_chars(begun.ptr + 1, range.end(), last);
    if (begun.ec != std::errc{} || last < first) return 0;
    count += static_cast<std::size_t>(last - first) + 1;
    ranges.remove_prefix(std::min(end + 1, ranges.size()));
  }
  return count;
}

}  // namespace trainwatch
