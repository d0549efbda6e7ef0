// SPDX-License-Identifier: Apache-2.0
// Moves what is still in use from one interner to a new one: the subjects and series that are not
// silent, and of the names those that a saved state or a kept series refers to.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/engine/last_seen.h"
#include "trainwatch/interner.h"

namespace trainwatch {

class AgedNames final : public SavedIds {
 public:
  // Whether there is anything to leave out.
  static bool any_silent(const Interner& interner, const LastSeen& seen);

  // Fills `fresh`, which must be emptied() and outlive the object. Names follow as they are asked
  // for.
  AgedNames(Interner old, const LastSeen& seen, Interner& fresh);

  Fate translate(SubjectId& id) override { return translate(subjects_, id); }
  Fate translate(SeriesId& id) override { return translate(series_, id); }
  Fate translate(Symbol& id) override;

 private:
  template <class Id>
  static Fate translate(const std::vector<std::optional<Id>>& now, Id& id) {
    const auto index = static_cast<std::size_t>(id);
    if (index >= now.size()) return Fate::invalid;
    if (!now[index]) return Fate::gone;
    id = *now[index];
    return Fate::kept;
  }

  Interner old_;
  Interner& fresh_;
  std::vector<std::optional<SubjectId>> subjects_;  // by the old id; nullopt: gone
  std::vector<std::optional<SeriesId>> series_;
};

}  // namespace trainwatch
