// SPDX-License-Identifier: Apache-2.0
// Whether the processes that write the watched timelines are alive. A process is recognised by
// having a file below a watched path open, so that numbers of another PID namespace, as in a
// container beside ours, mean nothing; and by when it began, so that a later one with its number is
// another one. Reads /proc only, which does not block. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/ledger/ledger.h"
#include "pipeline/tail/watch_root.h"
#include "trainwatch/subject.h"

namespace trainwatch {

class WriterWatch {
 public:
  // `proc` is another directory in tests.
  explicit WriterWatch(std::vector<WatchRoot> roots, std::string proc = "/proc");

  // Returns those whose process was seen writing and has gone. Each is returned once. `all`: looks
  // for new ones as well, which takes longer.
  std::vector<RankProcess> look(const std::vector<RankProcess>& writers, bool all = true);

 private:
  struct Seen {
    std::int64_t process = -1;
    std::string began;  // as /proc has it; empty: not known
  };

  bool is_alive(const Seen& seen) const;
  std::string began(std::int64_t process) const;
  bool writes_below_a_root(std::int64_t process) const;

  std::vector<WatchRoot> roots_;
  std::string proc_;
  std::map<SubjectId, Seen> seen_;  // the process of a rank, seen writing
};

}  // namespace trainwatch
