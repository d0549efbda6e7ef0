// SPDX-License-Identifier: Apache-2.0
// Who holds up a collective operation of a job, as the dumps of its ranks show, and the lines of
// NCCL's watchdog. Rules see this; the dumps themselves stay in pipeline/hang.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "trainwatch/subject.h"
#include "trainwatch/time.h"

namespace trainwatch {

struct HangFinding {
  enum class Kind : std::uint8_t {
    none,      // nobody waits
    absent,    // the suspects have not entered the collective that others wait in
    stuck,     // the suspects have not finished it, though others have
    mismatch,  // the suspects called another one, or with other sizes or types
    behind,    // the suspects have not called the send or receive that others wait for
    silent,    // nothing is known of the suspects, and all others wait
    unknown,   // all that are known of wait for each other
  };
  enum class Confidence : std::uint8_t { low, medium, high };

  Kind kind = Kind::none;
  Confidence confidence = Confidence::low;
  SubjectId job = SubjectId::none;
  std::set<std::int32_t> suspects;
  std::map<std::int32_t, std::int32_t> votes;  // of a suspect: the groups that accuse it

  // The group that says most, and what it waits in.
  std::string group;
  std::string description;
  std::int64_t sequence = 0;  // -1: not known
  std::string collective;
  std::string other_collective;  // mismatch: what the suspects called; empty: the same
  std::string difference;        // mismatch: "sizes"
  std::size_t group_ranks = 0;   // 0: not known
  std::set<std::int32_t> waiting;
  std::set<std::int32_t> done;
  std::set<std::int32_t> absent;
  std::set<std::int32_t> unknown;
  std::string sizes;  // of the waiting call: "[[1024, 1024]] -> [[1024, 1024]]"
  std::string types;
  std::int64_t timeout_ms = 0;
  std::vector<std::string> frames;  // of one that waits, the innermost first

  Time since = kNoTime;                // the first call that waits
  Time at = kNoTime;                   // the newest dump or line
  bool timed_out = false;              // a watchdog has given up
  std::set<std::int32_t> dumped;       // ranks with a dump
  std::set<std::int32_t> missing;      // members of the groups without one
  std::set<std::int32_t> waiting_all;  // ranks that wait in any group
  // Of the ranks without a dump, those of which NCCL's watchdog says how far they are, and those
  // of which it says that it is stuck itself.
  std::set<std::int32_t> from_lines;
  std::set<std::int32_t> watchdog_stuck;
  bool lines_only = false;  // there is no dump at all
  std::size_t groups_waiting = 0;

  Nanos waited() const { return since == kNoTime || at == kNoTime ? Nanos{} : at - since; }
};

}  // namespace trainwatch
