// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/aged_names.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace trainwatch {
namespace {

std::vector<bool> kept_series(const Interner& interner, const LastSeen& seen) {
  std::vector<bool> kept(interner.series.size());
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = !seen.is_silent(static_cast<SeriesId>(i));
  return kept;
}

// A job or a node is heard of through its ranks and series.
std::vector<bool> kept_subjects(const Interner& interner, const LastSeen& seen,
                                const std::vector<bool>& series) {
  const SubjectTable& subjects = interner.subjects;
  std::vector<bool> kept(subjects.size());
  const auto keep = [&](SubjectId id) {
    kept[static_cast<std::size_t>(id)] = true;
    for (const Scope scope : {Scope::job, Scope::node, Scope::rank, Scope::gpu}) {
      const SubjectId key = subjects.find(project(subjects[id], scope));
      kept[static_cast<std::size_t>(key)] = true;
    }
  };
  keep(SubjectId::none);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto id = static_cast<SubjectId>(i);
    if (!seen.is_silent(id)) keep(id);
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series[i]) keep(interner.series[static_cast<SeriesId>(i)].subject);
  }
  return kept;
}

}  // namespace

bool AgedNames::any_silent(const Interner& interner, const LastSeen& seen) {
  const std::vector<bool> series = kept_series(interner, seen);
  const std::vector<bool> subjects = kept_subjects(interner, seen, series);
  return std::ranges::find(series, false) != series.end() ||
         std::ranges::find(subjects, false) != subjects.end();
}

AgedNames::AgedNames(Interner old, const LastSeen& seen, Interner& fresh)
    : old_(std::move(old)), fresh_(fresh) {
  const std::vector<bool> series = kept_series(old_, seen);
  const std::vector<bool> subjects = kept_subjects(old_, seen, series);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    subjects_.emplace_back();
    if (subjects[i])
      subjects_.back() = fresh_.subjects.adopt(old_.subjects, static_cast<SubjectId>(i));
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    series_.emplace_back();
    if (!series[i]) continue;
    const auto id = static_cast<SeriesId>(i);
    Series moved = old_.series[id];
    translate(moved.subject);
    for (Symbol* const name : {&moved.type, &moved.name, &moved.dimension}) translate(*name);
    series_.back() = fresh_.series.adopt(old_.series, id, moved);
  }
}

SavedIds::Fate AgedNames::translate(Symbol& id) {
  if (static_cast<std::size_t>(id) >= old_.symbols.size()) return Fate::invalid;
  id = fresh_.symbols.adopt(old_.symbols, id);
  return Fate::kept;
}

}  // namespace trainwatch
