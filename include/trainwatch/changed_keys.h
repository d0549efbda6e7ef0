// SPDX-License-Identifier: Apache-2.0
// Saving the entries of a map whose keys were noted as changed. Unlike ChangedEntries, it needs no
// field in the entries, and an entry may be erased together with its key.
#pragma once

namespace trainwatch {

// Calls `use(key, value)` for the entries that changed, or for all of the map, and empties
// `changed`. Every key in `changed` must be in the map.
template <class Map, class Keys, class Use>
void take_changed(Map& map, Keys& changed, bool all, Use&& use) {
  if (all) {
    for (auto& [key, value] : map) use(key, value);
  } else {
    for (const auto& key : changed) use(key, map.at(key));
  }
  changed.clear();
}

}  // namespace trainwatch
