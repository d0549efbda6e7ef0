// SPDX-License-Identifier: Apache-2.0
// What each node's CPUs and GPUs were doing lately, by the second of event time, so that an alert
// about an interval can be explained from another stream. Because it is indexed by event time, the
// answer does not depend on which stream was read first.
//
// Bounded: up to kRows minutes of all nodes together (of 64 s, 2.6 KiB each), the last ones of each
// node, at most UsageSeconds::kSeconds. Beyond kRows / kFewestRows nodes there is no room for
// further ones: nothing is known of them, and nodes_dropped() counts their samples.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/analysis/core/usage_seconds.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/rule.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

// Means over an interval; a member is empty when there was no sample of that kind.
struct SystemUsage {
  std::optional<double> cpu;           // percent, over all cores
  std::optional<double> busiest_core;  // percent, mean of the busiest core of each second
  std::optional<double> io_wait;       // percent, mean of the worst core of each second
  std::optional<double> gpu;           // percent, over all GPUs
  std::optional<double> throttled;  // percent of the seconds in which any GPU's clock was held back
  // Percent of the interval in which some task waited for it (PSI).
  std::optional<double> cpu_pressure;
  std::optional<double> io_pressure;
  std::optional<double> memory_pressure;
  std::optional<double> quota_used;  // percent of the periods in which the CPU quota was used up
};

class SystemHistory final : public NodeActivity {
 public:
  static constexpr std::size_t kRows = 12'288;   // 31 MiB
  static constexpr std::size_t kFewestRows = 2;  // of a node

  explicit SystemHistory(const Interner& interner, std::size_t rows = kRows)
      : interner_(interner), most_rows_(rows) {}

  void on(const Sample& sample);

  // The usage of the subject's node, as sampled for its job or, failing that, for another one, in
  // [start, end], widened to whole seconds.
  SystemUsage usage(SubjectId subject, Time start, Time end) const;

  // True when the node's samples have been read beyond `time`: usage() up to there is final.
  bool passed(SubjectId subject, Time time) const override;
  bool is_sampled(SubjectId subject) const override { return find(subject) != nullptr; }
  Nanos longest_silence(SubjectId subject, Time from, Time to) const override;
  Nanos sampling_interval(SubjectId subject, Time time) const override;
  bool is_at_work(SubjectId subject, Time from, Time to) const override;

  std::size_t most_nodes() const { return most_rows_ / kFewestRows; }
  std::uint64_t nodes_dropped() const { return dropped_; }

  // Puts the stretches of time that changed since the last call; `all`: every one.
  void save(StateRows& rows, bool all);
  bool load(const SavedState& saved);
  // All of it in one piece, for one who keeps a history of its own.
  void state(StateIo& io);

 private:
  static constexpr std::size_t kLimits = UsageSecond::kLimits;  // the last four of SystemUsage
  static std::size_t limit_of(Resource resource);  // index into UsageSecond::limits, or kLimits

  struct Node {
    Subject key;
    UsageSeconds seconds;
  };

  const UsageSeconds* find(SubjectId subject) const;
  // Null: there is no room for the node.
  Node* node_of(SeriesId series);
  std::optional<std::uint32_t> index_of(const Subject& key);
  std::uint32_t add(const Subject& key);
  bool is_forgotten(const Subject& node) const;

  const Interner& interner_;
  std::size_t most_rows_;
  std::size_t rows_each_ = 0;  // that each node may keep, by their number
  std::uint64_t dropped_ = 0;
  std::vector<std::uint32_t> node_of_series_;  // by SeriesId; kUnset: not looked up yet
  std::vector<Node> nodes_;
  // By name: the same machine may be sampled into the directories of several jobs.
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> by_name_;
};

}  // namespace trainwatch
