// One value per group of system series, found in O(1) from a sample. An analysis says which series
// belong together by leaving out of the key what they may differ in.
#pragma once

#include <compare>
#include <map>
#include <utility>
#include <vector>

#include "pipeline/analysis/names.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

struct SeriesGroup {
  SubjectId node = SubjectId::none;
  Symbol type = Symbol::none;
  Symbol dimension = Symbol::none;
  Symbol name = Symbol::none;
  auto operator<=>(const SeriesGroup&) const = default;
};

template <class Value>
class SeriesGroups {
 public:
  using KeyOf = SeriesGroup (*)(const Vocabulary& vocabulary, SeriesGroup of, const Series& series);
  using Entry = std::pair<const SeriesGroup, Value>;

  // `key_of` gets the group that holds this series alone.
  SeriesGroups(const Vocabulary& vocabulary, KeyOf key_of)
      : vocabulary_(vocabulary), key_of_(key_of) {}

  Entry& of(SeriesId series) {
    const auto index = static_cast<std::size_t>(series);
    if (index < by_series_.size() && by_series_[index] != nullptr) return *by_series_[index];
    return add(series);
  }
  const std::map<SeriesGroup, Value>& all() const { return groups_; }

  void state(StateIo& io) {
    io(groups_);
    if (!io.is_loading()) return;
    by_series_.clear();
    for (const auto& [group, value] : groups_) {
      const bool known = is_known(vocabulary_, group.node) && is_known(vocabulary_, group.type) &&
                         is_known(vocabulary_, group.dimension) &&
                         is_known(vocabulary_, group.name);
      if (!known) io.fail();
    }
  }

 private:
  Entry& add(SeriesId id) {
    const auto index = static_cast<std::size_t>(id);
    if (index >= by_series_.size()) by_series_.resize(index + 1);
    const Series& series = vocabulary_.series[id];
    const Subject node = project(vocabulary_.subjects[series.subject], Scope::node);
    const SeriesGroup own{vocabulary_.subjects.find(node), series.type, series.dimension,
                          series.name};
    by_series_[index] = &*groups_.try_emplace(key_of_(vocabulary_, own, series)).first;
    return *by_series_[index];
  }

  const Vocabulary& vocabulary_;
  KeyOf key_of_;
  std::map<SeriesGroup, Value> groups_;
  std::vector<Entry*> by_series_;  // into groups_; null: not looked up yet
};

}  // namespace trainwatch
