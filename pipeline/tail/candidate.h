// SPDX-License-Identifier: Apache-2.0
// Files below a watched directory whose names do not say what they are, and that may be logs of a
// training: which names these are, and which of them are looked at where there are many.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/tail/watch_root.h"

namespace trainwatch {

// How much a name says that the file is a log, the surest first.
enum class NameClaim : std::uint8_t {
  training,  // "train.log", "training_0.log", "run.log", "kern.log": read even if its beginning
             // says nothing
  log,       // ".log", "log.txt", "syslog"
  text,      // ".txt"
  bare,      // no ending
  none,      // not of a candidate
};
NameClaim claim_of(std::string_view name);

struct Candidate {
  NameClaim claim = NameClaim::none;
  std::size_t depth = 0;  // directories around it
  std::string path;
  auto operator<=>(const Candidate&) const = default;
};

// False for directories in which programs keep what is no log of a job, by the thousand: hidden
// ones (".git"), and packages that are installed ("site-packages", "node_modules").
bool may_hold_logs(std::string_view directory_name);

// The first `most` candidates of a listing, in their order, however many there are: which ones they
// are depends on the names alone.
class CandidateList {
 public:
  explicit CandidateList(std::size_t most) : most_(most) {}

  // What is left out is counted in `skipped`, now or later.
  void add(Candidate candidate, SkippedPaths& skipped);
  // In order. Call once.
  std::vector<Candidate> take(SkippedPaths& skipped);

 private:
  void leave_out(SkippedPaths& skipped);

  std::size_t most_;
  std::vector<Candidate> found_;
};

}  // namespace trainwatch
