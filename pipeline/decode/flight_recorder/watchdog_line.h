// SPDX-License-Identifier: Apache-2.0
// What the watchdog of ProcessGroupNCCL prints when a collective does not end: which rank waited,
// in what, for how long, and how far it has come in a process group.
//
// Source: torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, 1.8 to 2.10; the wordings are listed
// in tests/unit/hang/watchdog_line_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwatch/state_io.h"
#include "trainwatch/subject.h"
#include "trainwatch/time.h"

namespace trainwatch {

// In each line that is read: the source file in its prefix.
inline constexpr std::string_view kWatchdogLiteral = "ProcessGroupNCCL.cpp:";

struct WatchdogLine {
  enum class Kind : std::uint8_t {
    timeout,   // the rank has waited in vain: operation, sequence, timeout, ran
    progress,  // how far it is in the group: enqueued, completed
    stuck,     // the watchdog itself does not come round: a CUDA call or Python's lock
  };

  Kind kind = Kind::timeout;
  // In the whole job. kNoRank: the line has only the number within its group.
  std::int32_t rank = kNoRank;
  std::int32_t group_rank = kNoRank;
  Time at = kNoTime;        // filled in by who knows the year and the zone
  std::string group;        // as in dumps: "0"; empty: the line has none
  std::string description;  // "default_pg"
  std::string operation;    // "ALLREDUCE"
  // Of the collective, -1 until 1.13; of progress: of the one that failed, or -1.
  std::int64_t sequence = -1;
  std::int64_t elements_in = -1;
  std::int64_t elements_out = -1;
  std::int64_t timeout_ms = 0;
  std::int64_t ran_ms = 0;
  std::int64_t enqueued = -1;
  std::int64_t completed = -1;

  // The group of all ranks, where the number within the group is that of the job.
  bool is_of_world() const { return description == "default_pg" || group == "0"; }

  void state(StateIo& io);
};

// A line without colours; `rank` only as far as the line's own prefix has it. nullopt: none of the
// watchdog's.
std::optional<WatchdogLine> parse_watchdog_line(std::string_view line);

// The time in the prefix "E709 17:05:38.162814866 ProcessGroupNCCL.cpp" as "7-09
// 17:05:38.162814866": local, without its year. Empty: the line has none, as before PyTorch 2.4.
std::string watchdog_clock(std::string_view line);

}  // namespace trainwatch
