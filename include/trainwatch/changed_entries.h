// SPDX-License-Identifier: Apache-2.0
// The entries of a map that changed since they were last saved, so that a commit looks at these
// only and not at the state of every rank. `Map` keeps its entries where they are, and its values
// have a `bool changed`.
#pragma once

#include <utility>
#include <vector>

namespace trainwatch {

template <class Map>
class ChangedEntries {
 public:
  using Entry = typename Map::value_type;

  void add(Entry& entry) {
    if (!std::exchange(entry.second.changed, true)) entries_.push_back(&entry);
  }
  // Calls `use(entry)` for those, or for all of the map, and forgets them.
  template <class Use>
  void take(Map& map, bool all, Use&& use) {
    for (Entry* const entry : entries_) {
      entry->second.changed = false;
      if (!all) use(*entry);
    }
    entries_.clear();
    if (!all) return;
    for (Entry& entry : map) use(entry);
  }

 private:
  std::vector<Entry*> entries_;
};

}  // namespace trainwatch
