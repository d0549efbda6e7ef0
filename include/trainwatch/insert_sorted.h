// SPDX-License-Identifier: Apache-2.0
// Insertion into a sequence that is kept in order.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>

namespace trainwatch {

// `sorted` is in ascending order of `key`. The value comes behind those with an equal key. Returns
// its iterator. What comes in order, as nearly everything does, is appended without a search.
template <class Sequence, class Key = std::identity>
typename Sequence::iterator insert_sorted(Sequence& sorted, typename Sequence::value_type value,
                                          Key key = {}) {
  const auto place = std::invoke(key, value);
  const bool last = sorted.empty() || !(place < std::invoke(key, sorted.back()));
  const auto before = last ? sorted.end() : std::ranges::upper_bound(sorted, place, {}, key);
  return sorted.insert(before, std::move(value));
}

}  // namespace trainwatch
