// The steps that profilers recorded, of the last cycles of every rank.
#include <algorithm>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "pipeline/analysis/json_table.h"
#include "pipeline/analysis/per_rank.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

constexpr std::size_t kCycles = 8;  // of a rank
constexpr std::size_t kMaxSteps = 512;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();  // null in JSON

struct Cycle {
  std::int64_t number = 0;
  std::vector<StepRow> steps;

  void state(StateIo& io) {
    io(number);
    io(steps);
    if (steps.size() > kMaxSteps) io.fail();
  }
};

class ProfilerSteps final : public Analysis {
 public:
  ProfilerSteps(const Vocabulary& vocabulary, StepSelection selection)
      : vocabulary_(vocabulary), selection_(selection), ranks_(vocabulary) {}

  void on_cycle(const CycleTrace& trace) override {
    auto* const cycles = ranks_.of(trace.subject);
    if (cycles == nullptr) {
      left_out_ += trace.steps.size();
      return;
    }
    const bool without_last = selection_ == StepSelection::without_last && trace.steps.size() > 1;
    const std::size_t wanted = trace.steps.size() - (without_last ? 1 : 0);
    const std::size_t kept = std::min(wanted, kMaxSteps);
    left_out_ += wanted - kept;
    if (cycles->size() == kCycles) cycles->pop_front();
    Cycle& cycle = cycles->emplace_back();
    cycle.number = trace.number;
    const auto first = std::span(trace.steps).first(kept);
    cycle.steps.assign(first.begin(), first.end());
  }

  void state(StateIo& io) override {
    ranks_.state(io, [&io](std::deque<Cycle>& cycles) {
      io(cycles);
      if (cycles.size() > kCycles) io.fail();
    });
    io(left_out_);
  }

  void write(JsonWriter& json) const override {
    JsonTable table(json, {"rank", "cycle", "step", "ts_ns", "dur_ns", "data_wait_ns", "node"});
    for (const auto& [subject, cycles] : ranks_.all()) {
      const Subject& who = vocabulary_.subjects[subject];
      const double rank = who.rank == kNoRank ? kUnknown : who.rank;
      for (const Cycle& cycle : cycles) {
        for (const StepRow& step : cycle.steps) {
          table.row(rank, cycle.number, step.number, step.start_ns, step.duration_ns,
                    step.data_wait_ns, who.node);
        }
      }
    }
    table.end_rows();
    json.field("left_out", left_out_).end_object();
  }

 private:
  const Vocabulary& vocabulary_;
  StepSelection selection_;
  PerRank<std::deque<Cycle>> ranks_;
  std::uint64_t left_out_ = 0;  // steps beyond a bound
};

}  // namespace

extern const AnalysisSpec profiler_steps_spec = {
    "profiler_steps",
    "The steps in the last cycles of a profiler, and their waits for data",
    false,
    {},
    make_analysis<ProfilerSteps>,
    true,
    true};

}  // namespace trainwatch
