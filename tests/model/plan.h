// SPDX-License-Identifier: Apache-2.0
// What one run of the simulation is to do.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "model/dice.h"

namespace trainwatch::test {

using Coverage = std::map<std::string, std::uint64_t>;

enum class Discipline : std::uint8_t { right, offsets_only, publish_before_commit };

struct Plan {
  std::uint64_t seed = 0;
  Discipline discipline = Discipline::right;
  bool trace = false;        // print each action
  std::string_view without;  // kinds of action that are left out, "hole,remount"

  bool has(std::string_view kind) const {
    return without.find(kind) == std::string_view::npos && Dice::has(seed, kind);
  }
};

}  // namespace trainwatch::test
