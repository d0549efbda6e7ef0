// SPDX-License-Identifier: Apache-2.0
// Which ranks the others wait for: those that take longer than the rest in what is not
// communication.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/analysis/hta/cycle_analysis.h"
#include "pipeline/cycle/cycle_summary.h"
#include "trainwatch/rank_times.h"
#include "trainwatch/stats/late_ranks.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostAlignedSteps = 1024;  // of a cycle
constexpr std::size_t kMostCollectives = 4096;   // of a cycle
constexpr std::uint64_t kFewestLateSteps = 3;
constexpr std::uint64_t kStepsPerLateStep = 4;

struct StepTime {
  std::int64_t number = 0;
  std::int64_t duration_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t waited_communication_ns = 0;
  std::vector<CollectiveSummary> collectives{};

  void state(StateIo& io) {
    io(number);
    io(duration_ns);
    io(communication_ns);
    io(waited_communication_ns);
    io(collectives);
    if (collectives.size() > StepSummary::kMostCollectives) io.fail();
  }
};

struct StepTimes {
  std::vector<StepTime> steps;

  void state(StateIo& io) {
    io(steps);
    if (steps.size() > kMostAlignedSteps) io.fail();
  }
};

using Rank = std::pair<std::optional<std::int32_t>, std::string>;  // and its node

// What was found of a rank over the steps that others have, too.
struct RankRecord {
  std::uint64_t steps = 0;
  std::uint64_t late_steps = 0;
  std::int64_t communication_ns = 0;
  std::uint64_t collectives = 0;  // that were matched with those of other ranks
  std::uint64_t last_to = 0;      // of these
  std::int64_t late_ns = 0;       // behind the median, in the steps in which it was late

  bool straggles() const {
    return late_steps >= kFewestLateSteps && late_steps * kStepsPerLateStep >= steps;
  }
};

class Stragglers final : public CycleAnalysis<StepTimes> {
 public:
  using CycleAnalysis::CycleAnalysis;

  Figures figures() const override {
    Figures out;
    const std::map<Rank, RankRecord> records = compare();
    FigureTable& table = out.table({"rank", "straggler", "steps", "late_steps", "late_time_ns",
                                    "communication_time_ns", "collectives", "last_to", "node"});
    for (const auto& [rank, of] : records) {
      table.row(rank.first, of.straggles(), of.steps, of.late_steps, of.late_ns,
                of.communication_ns, of.collectives, of.last_to, rank.second);
    }
    add_left_out(out);
    return out;
  }

 protected:
  StepTimes result_of(const SelectedCycle& selected) override {
    StepTimes found;
    std::size_t room = kMostCollectives;
    std::vector<StepSummary> steps = summarize(selected).steps;
    std::erase_if(steps, [](const StepSummary& step) {
      return step.number == kNoStep || step.busy_ns() == 0;
    });
    bound(steps, kMostAlignedSteps);
    for (StepSummary& step : steps) {
      bound(step.collectives, room);
      room -= step.collectives.size();
      step.collectives.shrink_to_fit();
      found.steps.push_back({step.number, step.duration_ns, step.communication_ns,
                             step.waited_communication_ns(), std::move(step.collectives)});
    }
    return found;
  }

 private:
  // Steps of one number are the same step.
  std::map<Rank, RankRecord> compare() const {
    std::map<std::int64_t, std::map<Rank, const StepTime*>> by_step;
    results().each([&](const CycleKey& key, const StepTimes& cycle) {
      for (const StepTime& step : cycle.steps) by_step[step.number][{key.rank, key.node}] = &step;
    });
    std::map<Rank, RankRecord> records;
    for (const auto& [number, ranks] : by_step) {
      if (ranks.size() >= kFewestRanks) add_step(ranks, records);
    }
    return records;
  }

  static void add_step(const std::map<Rank, const StepTime*>& ranks,
                       std::map<Rank, RankRecord>& records) {
    std::vector<RankPart> parts;
    parts.reserve(ranks.size());
    for (const auto& [rank, step] : ranks)
      parts.emplace_back(step->duration_ns, step->waited_communication_ns, step->collectives);
    const RankTimes times = own_times(parts);
    const LateRanks found = late_ranks(times.own_ns);
    std::size_t i = 0;
    for (const auto& [rank, step] : ranks) {
      RankRecord& record = records[rank];
      ++record.steps;
      record.communication_ns += step->communication_ns;
      record.collectives += times.matched;
      record.last_to += times.last[i];
      if (found.late[i]) {
        ++record.late_steps;
        record.late_ns += times.own_ns[i] - found.usual_ns;
      }
      ++i;
    }
  }
};

}  // namespace

const AnalysisSpec& stragglers_analysis() {
  static const AnalysisSpec spec =
      make_spec<Stragglers>({.name = "stragglers", .summary = "Which ranks the others wait for"});
  return spec;
}

}  // namespace trainwatch
