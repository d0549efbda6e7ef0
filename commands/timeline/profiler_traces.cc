// SPDX-License-Identifier: Apache-2.0
#include "commands/timeline/profiler_traces.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "commands/report/html_writer.h"

namespace trainwatch {

void label(std::vector<ProfilerTrace>& traces) {
  std::map<std::int32_t, std::set<std::string>> nodes;
  for (const ProfilerTrace& trace : traces) nodes[trace.subject.rank].insert(trace.subject.node);
  for (ProfilerTrace& trace : traces) {
    const std::int32_t rank = trace.subject.rank;
    const std::string& node = trace.subject.node;
    trace.label = rank == kNoRank ? std::filesystem::path(trace.file.path).filename().string()
                                  : "rank " + std::to_string(rank);
    if (rank != kNoRank && !node.empty() && nodes[rank].size() > 1) trace.label += " on " + node;
    trace.label = repaired_utf8(trace.label);
  }
  std::stable_sort(
      traces.begin(), traces.end(), [](const ProfilerTrace& a, const ProfilerTrace& b) {
        return std::tie(a.subject.rank, a.subject.node) < std::tie(b.subject.rank, b.subject.node);
      });
}

}  // namespace trainwatch
