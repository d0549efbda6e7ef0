// SPDX-License-Identifier: Apache-2.0
// What the ids in a saved state stand for now. Names and subjects that nothing was heard of for
// long are forgotten, and the others get new ids.
#pragma once

#include <cstdint>

namespace trainwatch {

enum class SubjectId : std::uint32_t;
enum class SeriesId : std::uint32_t;
enum class Symbol : std::uint32_t;

class SavedIds {
 public:
  enum class Fate : std::uint8_t {
    kept,
    gone,     // and so is what it identifies
    invalid,  // no such id was given: the state is damaged
  };

  virtual ~SavedIds() = default;
  // Replaces a saved id by that of today. Leaves it as it is unless it is kept.
  virtual Fate translate(SubjectId& id) = 0;
  virtual Fate translate(SeriesId& id) = 0;
  virtual Fate translate(Symbol& id) = 0;
};

}  // namespace trainwatch
