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
    return without.find(kind) == std::string_view::npos && !is_excluded(kind) &&
           Dice::has(seed, kind);
  }
  // Kinds that no seed has together. Copies and drafts are told from originals by looking at both:
  // where the view is troubled at the same time, they are read as well. A file without birth time
  // that has a new device number and new content is a new file. A directory that goes while one of
  // its files cannot be opened takes the order of that lane with it.
  bool is_excluded(std::string_view kind) const {
    static constexpr std::string_view kCopies = "copytruncate,rewrite";
    static constexpr std::string_view kView =
        "hide,list fails,read fails,open fails,lag,remount,no births";
    static constexpr std::string_view kContents = "emptied,hole,delete,replace,late,remount";
    const auto names = [kind](std::string_view kinds) {
      return kinds.find(kind) != std::string_view::npos;
    };
    if (Dice::has(seed, "copies")) return names(kView);
    if (names(kCopies)) return true;
    if (Dice::has(seed, "no births") && names(kContents)) return true;
    return Dice::has(seed, "hide") && names("open fails,list fails,read fails");
  }
};

}  // namespace trainwatch::test
