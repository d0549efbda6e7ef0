// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/run_names.h"

#include <algorithm>
#include <utility>

namespace trainwatch {

bool RunNames::is_first(const std::string& job, std::string_view id) {
  const auto known = first_.find(job);
  if (known != first_.end()) return known->second == id;
  if (first_.size() == kMostJobs) return true;
  first_.emplace(job, id);
  changed_ = true;
  return true;
}

std::uint32_t RunNames::run_of(const std::string& job, const FileWriter& writer, Time at) {
  const Rank rank{job, writer.node, writer.rank};
  const auto entry = processes_.find(rank);
  // A node may be called "worker-7" and have a process 7.
  if (writer.named_after_process && !writer.other_file && entry == processes_.end()) return 1;
  if (entry == processes_.end() && processes_.size() == kMostRanks) return 1;
  std::vector<Process>& known = entry != processes_.end() ? entry->second : processes_[rank];
  const auto same = std::ranges::find(known, writer.process, &Process::process);
  if (same != known.end()) {
    if (same->run > 1) {
      same->last = std::max(same->last, at);
      changed_ = true;
    }
    return same->run;
  }
  Process process{writer.process, 1, at};
  const auto lives = [&](const Process& other) {
    return other.run == process.run && other.last > at - kSilent;
  };
  if (writer.named_after_process && (writer.other_file || !known.empty())) {
    do {
      ++process.run;
    } while (std::ranges::any_of(known, lives));
  }
  if (known.size() == kMostProcesses) known.erase(known.begin());
  known.push_back(process);
  changed_ = true;
  return process.run;
}

bool RunNames::take_changed() {
  return std::exchange(changed_, false);
}

void RunNames::Process::state(StateIo& io) {
  io(process);
  io(run);
  io(last);
  if (run == 0 || !is_possible(last)) io.fail();
}

void RunNames::state(StateIo& io) {
  io(first_);
  io(processes_);
  if (first_.size() > kMostJobs || processes_.size() > kMostRanks) io.fail();
  for (const auto& [rank, known] : processes_) {
    if (known.size() > kMostProcesses) io.fail();
  }
}

}  // namespace trainwatch
