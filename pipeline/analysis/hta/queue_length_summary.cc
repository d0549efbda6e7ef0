// HTA's summary of queue lengths: how much launched work waited on each stream.
#include <vector>

#include "pipeline/analysis/hta/cycle_analysis.h"
#include "pipeline/cycle/launches.h"

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
    for (const StreamQueue& queue : queue_length(selected.cycle(), selected.rows())) {
      found.streams.push_back({queue.stream, summarize(queue)});
    }
    bound(found.streams, kMostQueues);
    return found;
  }
};

}  // namespace

extern const AnalysisSpec queue_length_summary_spec = cycle_analysis_spec<QueueLengthSummary>(
    "queue_length_summary", "How much launched work waited on each stream of a GPU");

}  // namespace trainwatch
