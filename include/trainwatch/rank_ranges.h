// Ranks as a person writes them: "0-3,7".
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace trainwatch {

inline std::string rank_ranges(const std::set<std::int32_t>& ranks) {
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

}  // namespace trainwatch
