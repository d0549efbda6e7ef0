// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cycle/memory_bandwidth.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace trainwatch {
namespace {

constexpr std::int64_t kShortestNs = 1000;

constexpr std::string_view kUnknown = "Memcpy Unknown";

std::string_view copy_kind(std::string_view name) {
  if (name.starts_with("Memset")) return "Memset";
  if (!name.starts_with("Memcpy")) return kUnknown;
  const std::string_view kind = name.substr(0, std::string_view("Memcpy DtoH").size());
  const bool is_plain = std::ranges::all_of(kind, [](char c) { return c >= ' ' && c <= '~'; });
  return is_plain ? kind : kUnknown;  // the cut may have split a character
}

// A copy begins or ends.
struct Edge {
  std::int64_t at_ns = 0;
  double gbps = 0;
  bool begins = false;
};

std::vector<BandwidthChange> changes_of(std::vector<Edge> edges) {
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.begins && !b.begins;
  });
  std::vector<BandwidthChange> changes;
  double gbps = 0;
  std::size_t active = 0;
  for (const Edge& edge : edges) {
    gbps += edge.begins ? edge.gbps : -edge.gbps;
    active += edge.begins ? 1 : -1;
    if (active == 0) gbps = 0;  // remove rounding errors
    changes.push_back({edge.at_ns, gbps});
  }
  return changes;
}

}  // namespace

std::vector<CopyBandwidth> memory_bandwidth(const CycleTrace& cycle, DeviceRows rows) {
  std::map<std::string_view, std::vector<Edge>> edges;
  for (const std::uint32_t index : rows) {
    const DeviceActivity& row = cycle.device[index];
    // Without a bandwidth it changes nothing.
    if (row.activity_class != ActivityClass::memory) continue;
    const float gbps = cycle.place_of(row).memory_gbps;
    if (!(gbps > 0) || !std::isfinite(gbps)) continue;
    const std::string_view kind = copy_kind(cycle.names.text(row.name));
    std::vector<Edge>& of_kind = edges[kind];
    const std::int64_t end = row.duration_ns == 0 ? row.start_ns + kShortestNs : row.end_ns();
    of_kind.push_back({row.start_ns, gbps, true});
    of_kind.push_back({end, gbps, false});
  }
  std::vector<CopyBandwidth> found;
  found.reserve(edges.size());
  for (auto& [kind, of_kind] : edges)
    found.push_back({std::string(kind), changes_of(std::move(of_kind))});
  return found;
}

Description summarize(const CopyBandwidth& bandwidth) {
  std::vector<double> values;
  for (const BandwidthChange& change : bandwidth.changes) {
    if (change.gbps > 0) values.push_back(change.gbps);
  }
  return describe(std::move(values));
}

}  // namespace trainwatch
