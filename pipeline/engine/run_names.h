// SPDX-License-Identifier: Apache-2.0
// Keeps runs apart whose files lie in one place, so that the path gives them one job.
//
// The first run there has the job's name. Another one that has an id has it in its name,
// "bert/9002"; one that shows itself only by processes that write beside those of the first is
// "bert (2)".
//
// Bounded; beyond, runs are not reported apart. Owned by Ingest, which saves it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/run_naming.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class RunNames {
 public:
  static constexpr std::size_t kMostJobs = 4096;
  static constexpr std::size_t kMostRanks = 32'768;
  static constexpr std::size_t kMostProcesses = 16;  // of a rank, the last ones
  // A process that was silent for so long has ended: who comes after it is its next attempt.
  static constexpr Nanos kSilent = std::chrono::seconds(10);

  bool knows(const std::string& job) const { return first_.contains(job); }
  // Whether `id` is that of the first run of `job`; of an unknown job it becomes that.
  bool is_first(const std::string& job, std::string_view id);
  // Which run of `job` the process is of, from 1.
  std::uint32_t run_of(const std::string& job, const FileWriter& writer, Time at);

  void state(StateIo& io);
  // Since the last call.
  bool take_changed();

 private:
  struct Rank {
    std::string job;
    std::string node;
    std::int32_t rank = -1;
    auto operator<=>(const Rank&) const = default;
  };
  struct Process {
    std::int64_t process = -1;
    std::uint32_t run = 1;
    Time last{};  // of its events; not of the first run, which has the name in any case
    void state(StateIo& io);
  };

  std::map<std::string, std::string> first_;  // job -> the id of its first run
  std::map<Rank, std::vector<Process>> processes_;
  bool changed_ = false;
};

}  // namespace trainwatch
