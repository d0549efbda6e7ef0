// SPDX-License-Identifier: Apache-2.0
// Whether the processes that write the watched timelines are alive. A process is recognised by
// having a file below a watched path open, so that numbers of another PID namespace, as in a
// container beside ours, mean nothing. Reads /proc only, which does not block. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/engine/runs.h"
#include "pipeline/tail/watch_root.h"
#include "trainwatch/subject.h"

namespace trainwatch {

class WriterWatch {
 public:
  // `proc` is another directory in tests.
  explicit WriterWatch(std::vector<WatchRoot> roots, std::string proc = "/proc");

  // Returns those whose process was seen writing and has gone. Each is returned once.
  std::vector<Runs::Writer> look(const std::vector<Runs::Writer>& writers);

 private:
  bool is_alive(std::int64_t process) const;
  bool writes_below_a_root(std::int64_t process) const;

  std::vector<WatchRoot> roots_;
  std::string proc_;
  std::map<SubjectId, std::int64_t> seen_;  // the process of a rank, seen writing
};

}  // namespace trainwatch
