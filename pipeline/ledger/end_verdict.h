// SPDX-License-Identifier: Apache-2.0
// Why an attempt ended, of all that was said about it: the first failure of the strongest kind.
// What follows from it (broken connections, a launcher that gives up) is no cause.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "trainwatch/run_ending.h"
#include "trainwatch/run_note.h"
#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

class EndVerdict {
 public:
  // In any order.
  void add(Time at, const EndEvidence& evidence);
  // nullopt: nothing says that it ended.
  std::optional<AttemptEnd> verdict() const;

 private:
  std::optional<AttemptEnd> best_;  // that names the class
  std::optional<AttemptEnd> root_;  // that a launcher names as the root
};

// All that was said about ends, of any attempt. Bounded: kMost.
class EndEvidences {
 public:
  static constexpr std::size_t kMost = 128;

  // The same text of the same file again, with a better time or rank, takes the place of what it
  // said before.
  void add(Time at, const EndEvidence& evidence);
  // Of the attempt that lasted from `from` to before `to`. What was reported before its latest step
  // began was no end, whatever it was: somebody caught the exception.
  // The kernel's word counts from `began` on, and only if anybody else reports a failure: it hits
  // other programs, too.
  std::optional<AttemptEnd> verdict(Time from, Time to, Time began) const;
  bool empty() const { return all_.empty(); }
  void state(StateIo& io) {
    io(all_);
    if (all_.size() > kMost) io.fail();
  }

 private:
  std::vector<AttemptEnd> all_;
};

}  // namespace trainwatch
