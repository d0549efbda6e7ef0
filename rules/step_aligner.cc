// SPDX-License-Identifier: Apache-2.0
#include "rules/step_aligner.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "trainwatch/release_memory.h"

namespace trainwatch {
namespace {

constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

bool is_known(const Interner& interner, SubjectId subject) {
  return static_cast<std::size_t>(subject) < interner.subjects.size();
}

void append(std::vector<JobStep>& to, std::vector<JobStep> more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

}  // namespace

Time JobStep::begin() const {
  return time_from_ns(ranks.front().step.start_ns);
}

std::vector<JobStep> StepAligner::add(const CycleSummary& cycle) {
  without_activity_ = cycle.activities == 0;
  without_steps_ = std::ranges::all_of(
      cycle.steps, [](const StepSummary& step) { return step.number == kNoStep; });
  if (without_activity_ || without_steps_) return {};
  std::vector<JobStep> complete;
  if (cycle.world_size > 0) world_size_ = cycle.world_size;
  fresh_ = true;
  for (const StepSummary& step : cycle.regular_steps()) {
    if (step.number == kNoStep) continue;
    const auto newest = newest_.find(cycle.subject);
    if (newest != newest_.end() && step.number <= newest->second) {
      append(complete, end());
      // Two cycles may share the step between them.
      restarted_ = restarted_ || step.number < newest->second;
      newest_.clear();
    }
    newest_[cycle.subject] = step.number;
    put({cycle.subject, step});
    while (pending_size_ > kMostPending) append(complete, take(pending_.begin()->first));
  }
  std::optional<std::int64_t> last;
  for (const auto& [number, ranks] : pending_) {
    if (world_size_ > 0 && std::cmp_greater_equal(ranks.ranks.size(), world_size_)) last = number;
  }
  if (last) append(complete, take(*last));
  return complete;
}

void StepAligner::put(RankStep step) {
  if (collectives_ == Collectives::dropped) release_memory(step.step.collectives);
  const auto place_of = [&](const RankStep& of) {
    const Subject& who = interner_.subjects[of.rank];
    return std::tie(who.rank, who.node, who.process);
  };
  std::vector<RankStep>& ranks = pending_[step.step.number].ranks;
  const auto place =
      std::upper_bound(ranks.begin(), ranks.end(), step,
                       [&](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
  ranks.insert(place, std::move(step));
  ++pending_size_;
}

std::vector<JobStep> StepAligner::tick(Time now) {
  if (pending_.empty()) return {};
  if (std::exchange(fresh_, false) || !quiet_since_) quiet_since_ = now;
  return now - *quiet_since_ >= kLateness ? end() : std::vector<JobStep>{};
}

std::vector<JobStep> StepAligner::take(std::int64_t last) {
  std::vector<JobStep> taken;
  while (!pending_.empty() && pending_.begin()->first <= last) {
    pending_size_ -= pending_.begin()->second.ranks.size();
    taken.push_back(std::move(pending_.begin()->second));
    pending_.erase(pending_.begin());
  }
  if (pending_.empty()) quiet_since_.reset();
  if (!taken.empty()) taken.front().restarts = std::exchange(restarted_, false);
  return taken;
}

std::vector<JobStep> StepAligner::end() {
  return take(kLast);
}

std::vector<std::string_view> StepAligner::missing() const {
  if (without_activity_) return {"gpu activity"};
  if (without_steps_) return {"steps"};
  return {};
}

void StepAligner::state(StateIo& io) {
  io(pending_);
  io(newest_);
  io(world_size_);
  io(restarted_);
  io(without_activity_);
  io(without_steps_);
  io(fresh_);
  io(quiet_since_);
  pending_size_ = 0;
  for (const auto& [number, step] : pending_) {
    pending_size_ += step.ranks.size();
    for (const RankStep& rank : step.ranks) {
      if (!is_known(interner_, rank.rank)) io.fail();
    }
  }
  for (const auto& [rank, step] : newest_) {
    if (!is_known(interner_, rank)) io.fail();
  }
  if (pending_size_ > kMostPending) io.fail();
}

}  // namespace trainwatch
