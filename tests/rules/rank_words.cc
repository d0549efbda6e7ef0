// SPDX-License-Identifier: Apache-2.0
#include "rules/rank_words.h"

#include <string>

namespace trainwatch::cases {

Result<RankWords> RankWords::read(const Words& words, std::int32_t first, std::int32_t last) {
  RankWords out;
  Words* part = &out.line_;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "but") {
      part->push_back(words[i]);
      continue;
    }
    std::int32_t rank = 0;
    if (i + 3 >= words.size() || words[i + 1] != "rank" || !cases::read(words[i + 2], rank)) {
      return Error{"... but rank N OPTIONS"};
    }
    if (rank < first || rank > last) {
      return Error{"rank " + std::to_string(rank) + " is none of the current ranks"};
    }
    part = &out.exceptions_[rank];
    i += 2;
  }
  return out;
}

Words RankWords::of(std::int32_t rank) const {
  Words words = line_;
  if (const auto own = exceptions_.find(rank); own != exceptions_.end()) {
    words.insert(words.end(), own->second.begin(), own->second.end());
  }
  return words;
}

}  // namespace trainwatch::cases
