// SPDX-License-Identifier: Apache-2.0
// HTA's breakdown of idle time: why each stream of a GPU waited for its next activity.
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "pipeline/analysis/hta/cycle_analysis.h"
#include "pipeline/cycle/idle_time.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostStreams = 256;  // of a cycle
constexpr std::array kCauseNames = {"host_wait", "kernel_wait", "other"};
static_assert(kCauseNames.size() == kIdleCauses);

struct CycleIdle {
  std::vector<StreamIdle> streams;

  void state(StateIo& io) {
    io(streams);
    if (streams.size() > kMostStreams) io.fail();
  }
};

// Where there was no gap of a cause there is no row, but always one of "other", as in HTA.
bool is_shown(const StreamIdle& stream, std::size_t cause) {
  return stream.by_cause[cause].each_ns.count > 0 ||
         cause == static_cast<std::size_t>(IdleCause::other);
}

double share_of(const StreamIdle& stream, std::size_t cause) {
  std::int64_t total = 0;
  for (const IdleGaps& gaps : stream.by_cause) total += gaps.sum_ns;
  if (total == 0) return std::numeric_limits<double>::quiet_NaN();
  return rounded(static_cast<double>(stream.by_cause[cause].sum_ns) / static_cast<double>(total),
                 2);
}

class IdleTimeBreakdown final : public CycleAnalysis<CycleIdle> {
 public:
  using CycleAnalysis::CycleAnalysis;

  Figures figures() const override {
    Figures out;
    FigureTable& table = out.table(
        {"rank", "stream", "idle_category", "idle_time_ns", "idle_time_ratio", "cycle", "node"});
    each_cause([&](const CycleKey& key, const StreamIdle& stream, std::size_t cause) {
      table.row(key.rank, stream.stream, kCauseNames[cause], stream.by_cause[cause].sum_ns,
                share_of(stream, cause), key.cycle, key.node);
    });
    add_intervals(out.group("interval_stats"));
    add_left_out(out);
    return out;
  }

 protected:
  CycleIdle result_of(const SelectedCycle& selected) override {
    CycleIdle found{idle_time(selected.cycle(), selected.rows())};
    bound(found.streams, kMostStreams);
    return found;
  }

 private:
  template <class Use>
  void each_cause(Use&& use) const {
    results().each([&](const CycleKey& key, const CycleIdle& cycle) {
      for (const StreamIdle& stream : cycle.streams) {
        for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
          if (is_shown(stream, cause)) use(key, stream, cause);
        }
      }
    });
  }

  void add_intervals(Figures& out) const {
    FigureTable& table =
        out.table({"idle_category", "rank", "stream", "count", "mean_ns", "std_ns", "min_ns",
                   "25%_ns", "50%_ns", "75%_ns", "max_ns", "cycle", "node"});
    each_cause([&](const CycleKey& key, const StreamIdle& stream, std::size_t cause) {
      const Description& of = stream.by_cause[cause].each_ns;
      table.row(kCauseNames[cause], key.rank, stream.stream, of.count, whole_ns(of.mean),
                whole_ns(of.stddev), whole_ns(of.min), whole_ns(of.p25), whole_ns(of.p50),
                whole_ns(of.p75), whole_ns(of.max), key.cycle, key.node);
    });
  }
};

}  // namespace

const AnalysisSpec& idle_time_breakdown_analysis() {
  static const AnalysisSpec spec = make_spec<IdleTimeBreakdown>(
      {.name = "idle_time_breakdown",
       .summary = "Why the streams of a GPU waited for their next activity"});
  return spec;
}

}  // namespace trainwatch
