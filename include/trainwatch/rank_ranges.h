// SPDX-License-Identifier: Apache-2.0
// Ranks as a person writes them: "0-3,7".
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainwatch {

// A set of ranks, none of them negative. A run of consecutive ranks takes as little room as one.
class RankRanges {
 public:
  // Parses what text() returned; nullopt for anything else.
  static std::optional<RankRanges> parse(std::string_view text) {
    RankRanges parsed;
    while (!text.empty()) {
      const std::string_view range = text.substr(0, text.find(','));
      Range found;
      const auto begun = std::from_chars(range.begin(), range.end(), found.first);
      found.last = found.first;
      if (begun.ptr != range.end() && *begun.ptr == '-')
        std::from_chars(begun.ptr + 1, range.end(), found.last);
      const bool follows = parsed.ranges_.empty() || parsed.ranges_.back().last < found.first;
      const bool possible = found.first >= 0 && found.last >= found.first;
      if (begun.ec != std::errc{} || !possible || !follows) return std::nullopt;
      parsed.ranges_.push_back(found);
      text.remove_prefix(std::min(range.size() + 1, text.size()));
    }
    return parsed;
  }

  void add(std::int32_t rank) {
    const auto after = std::ranges::upper_bound(ranges_, rank, {}, &Range::first);
    const bool has_before = after != ranges_.begin();
    if (has_before && rank <= std::prev(after)->last) return;
    const bool extends = has_before && std::prev(after)->last == rank - 1;
    const bool precedes = after != ranges_.end() && after->first - 1 == rank;
    if (extends && precedes) {
      std::prev(after)->last = after->last;
      ranges_.erase(after);
    } else if (extends) {
      std::prev(after)->last = rank;
    } else if (precedes) {
      after->first = rank;
    } else {
      ranges_.insert(after, {rank, rank});
    }
  }

  void add(const RankRanges& others) {
    ranges_.insert(ranges_.end(), others.ranges_.begin(), others.ranges_.end());
    std::ranges::sort(ranges_, {}, &Range::first);
    std::vector<Range> apart;
    for (const Range& range : ranges_) {
      const bool touches = !apart.empty() && range.first - 1 <= apart.back().last;
      if (!touches) apart.push_back(range);
      apart.back().last = std::max(apart.back().last, range.last);
    }
    ranges_ = std::move(apart);
  }

  friend bool operator==(const RankRanges&, const RankRanges&) = default;
  bool empty() const { return ranges_.empty(); }
  std::size_t count() const {
    std::size_t count = 0;
    for (const Range& range : ranges_)
      count += static_cast<std::size_t>(range.last - range.first) + 1;
    return count;
  }

  std::string text() const {
    std::string text;
    for (const Range& range : ranges_) {
      if (!text.empty()) text += ',';
      text += std::to_string(range.first);
      if (range.last != range.first) text += '-' + std::to_string(range.last);
    }
    return text;
  }

 private:
  struct Range {
    std::int32_t first = 0;
    std::int32_t last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  std::vector<Range> ranges_;  // ascending, with a gap between two
};

template <class Ranks = std::set<std::int32_t>>
std::string rank_ranges(const Ranks& ranks) {
  RankRanges ranges;
  for (const std::int32_t rank : ranks) ranges.add(rank);
  return ranges.text();
}

// How many ranks a text of rank_ranges() lists; 0 for anything else.
inline std::size_t count_ranks(std::string_view text) {
  const auto ranges = RankRanges::parse(text);
  return ranges ? ranges->count() : 0;
}

}  // namespace trainwatch
