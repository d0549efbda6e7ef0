// SPDX-License-Identifier: Apache-2.0
// HTA's summaries of its trace counters: queue_length_summary, the launch queue on
// each stream, and memory_bw_summary, copies and fills by kind.
#include <string>
#include <utility>
#include <vector>

#include "pipeline/analysis/hta/cycle_analysis.h"
#include "pipeline/cycle/launches.h"
#include "pipeline/cycle/memory_bandwidth.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostQueues = 256;  // of a cycle

struct StreamSummary {
  std::int64_t stream = 0;
  QueueSummary queue;
};

struct CycleQueues {
  std::vector<StreamSummary> streams;

  void state(StateIo& io) {
    io(streams);
    if (streams.size() > kMostQueues) io.fail();
  }
};

class QueueLengthSummary final : public CycleAnalysis<CycleQueues> {
 public:
  using CycleAnalysis::CycleAnalysis;

  Figures figures() const override {
    Figures out;
    FigureTable& table = out.table(
        {"rank", "stream", "queue_length_count", "queue_length_mean", "queue_length_std",
         "queue_length_min", "queue_length_25%", "queue_length_50%", "queue_length_75%",
         "queue_length_max", "mean_over_time", "full_queue_ns", "duration_ns", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleQueues& cycle) {
      for (const auto& [stream, queue] : cycle.streams) {
        const Description& of = queue.lengths;
        table.row(key.rank, stream, of.count, of.mean, of.stddev, of.min, of.p25, of.p50, of.p75,
                  of.max, queue.mean_over_time, queue.full_ns, queue.duration_ns, key.cycle,
                  key.node);
      }
    });
    add_left_out(out);
    return out;
  }

 protected:
  CycleQueues result_of(const SelectedCycle& selected) override {
    CycleQueues found;
    for (QueueSweep sweep(selected.cycle(), selected.rows()); sweep.next_stream();) {
      found.streams.push_back({sweep.stream(), summarize(sweep)});
    }
    bound(found.streams, kMostQueues);
    return found;
  }
};

constexpr std::size_t kMostKinds = 64;  // of copies in a cycle

struct CycleBandwidth {
  std::vector<std::pair<std::string, Description>> kinds;

  void state(StateIo& io) {
    io(kinds);
    if (kinds.size() > kMostKinds) io.fail();
  }
};

class MemoryBwSummary final : public CycleAnalysis<CycleBandwidth> {
 public:
  using CycleAnalysis::CycleAnalysis;

  Figures figures() const override {
    Figures out;
    FigureTable& table = out.table({"rank", "name", "memory_bw_gbps_count", "memory_bw_gbps_mean",
                                    "memory_bw_gbps_std", "memory_bw_gbps_min",
                                    "memory_bw_gbps_25%", "memory_bw_gbps_50%",
                                    "memory_bw_gbps_75%", "memory_bw_gbps_max", "cycle", "node"});
    results().each([&](const CycleKey& key, const CycleBandwidth& cycle) {
      for (const auto& [kind, of] : cycle.kinds) {
        table.row(key.rank, kind, of.count, of.mean, of.stddev, of.min, of.p25, of.p50, of.p75,
                  of.max, key.cycle, key.node);
      }
    });
    add_left_out(out);
    return out;
  }

 protected:
  CycleBandwidth result_of(const SelectedCycle& selected) override {
    CycleBandwidth found;
    for (const CopyBandwidth& of : memory_bandwidth(selected.cycle(), selected.rows())) {
      found.kinds.emplace_back(of.kind, summarize(of));
    }
    bound(found.kinds, kMostKinds);
    return found;
  }
};

}  // namespace

const AnalysisSpec& queue_length_summary_analysis() {
  static const AnalysisSpec spec = make_spec<QueueLengthSummary>(
      {.name = "queue_length_summary",
       .summary = "The length of the launch queue of each stream of a GPU"});
  return spec;
}

const AnalysisSpec& memory_bw_summary_analysis() {
  static const AnalysisSpec spec = make_spec<MemoryBwSummary>(
      {.name = "memory_bw_summary",
       .summary = "The bandwidth of copies to, from and on a GPU, by kind"});
  return spec;
}

}  // namespace trainwatch
