// SPDX-License-Identifier: Apache-2.0
// The three tables that give the small ids in events their meaning. One per engine.
#pragma once

#include "trainwatch/series.h"
#include "trainwatch/shares.h"
#include "trainwatch/subject.h"
#include "trainwatch/symbol_table.h"

namespace trainwatch {

// How much the tables hold; see shares.h for how much of it one job gets. What has no room is
// counted, and the record that needs it is rejected; a name without room is Symbol::other.
struct InternerLimits {
  std::size_t names = std::size_t{1} << 18U;
  std::size_t name_bytes = std::size_t{16} << 20U;  // of all names together
  std::size_t subjects = std::size_t{1} << 16U;     // jobs, nodes, ranks and GPUs
  std::size_t series = std::size_t{1} << 18U;
};

struct Interner {
  SymbolTable symbols;
  SubjectTable subjects;
  SeriesTable series;

  // What is held already stays, also beyond the new limits.
  void set_limits(const InternerLimits& limits) {
    symbols.set_limits(limits.names, limits.name_bytes);
    subjects.set_limit(limits.subjects);
    series.set_limit(limits.series);
  }

  // Whose file is decoded from now on.
  void set_holder(Holder holder) {
    symbols.set_holder(holder);
    subjects.set_holder(holder);
    series.set_holder(holder);
  }
  // What had no room.
  std::uint64_t dropped() const {
    return symbols.dropped() + subjects.dropped() + series.dropped();
  }

  // With the limits and the counts of this one, and no content.
  Interner emptied() const { return {symbols.emptied(), subjects.emptied(), series.emptied()}; }

  std::string_view text(Symbol symbol) const { return symbols.text(symbol); }

  // As an aggregate of this size it takes the compiler minutes and gigabytes to count its fields.
  void state(StateIo& io) {
    io(symbols);
    io(subjects);
    io(series);
  }
};

// Of a state whose tables were loaded as they are: every id is what it was, if it was given.
class SameIds final : public SavedIds {
 public:
  explicit SameIds(const Interner& interner) : interner_(interner) {}

  Fate translate(SubjectId& id) override { return fate(id, interner_.subjects.size()); }
  Fate translate(SeriesId& id) override { return fate(id, interner_.series.size()); }
  Fate translate(Symbol& id) override { return fate(id, interner_.symbols.size()); }

 private:
  template <class Id>
  static Fate fate(Id id, std::size_t given) {
    return static_cast<std::size_t>(id) < given ? Fate::kept : Fate::invalid;
  }

  const Interner& interner_;
};

}  // namespace trainwatch
