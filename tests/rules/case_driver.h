// SPDX-License-Identifier: Apache-2.0
// Runs the events of a case through an engine with the one rule of the case, in three ways.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rules/case.h"
#include "trainwatch/alert.h"

namespace trainwatch::cases {

struct Emitted {
  std::size_t event = 0;  // index of the event after which it was emitted
  Alert alert;
};

// What the rule made of the events, at the end.
struct Judged {
  std::uint64_t evaluations = 0;
  std::size_t warming = 0;        // of its instances
  std::set<std::string> missing;  // for want of which it abstains
};

struct Outcome {
  std::vector<Emitted> emitted;
  Judged judged;
};

// One event at a time; every change is emitted at once.
Outcome run_straight(const Case& made);

// The last content of each alert as JSON, by id.
using Finals = std::map<std::string, std::string>;
Finals finals(const std::vector<Emitted>& emitted);

// In pieces of random size; changes are emitted at the end only.
Finals run_cut(const Case& made, std::uint64_t seed);

// Killed four times, each some events after a commit: a new engine resumes from what was stored,
// and gets these events again.
Finals run_killed(const Case& made, std::uint64_t seed);

}  // namespace trainwatch::cases
