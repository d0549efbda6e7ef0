// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/kineto/launch_correlator.h"

#include "trainwatch/release_memory.h"

namespace trainwatch {
namespace {

// What the index says of a correlation: what it stands for, and which of them.
enum class What : std::uint32_t {
  rows,     // device activity without a call: the last row; its `launch` is the row before it
  launch,   // index into CycleTrace::launches
  waiting,  // number of a waiting call
};
constexpr unsigned kNumberBits = 30;
constexpr std::uint32_t kNumbers = (1U << kNumberBits) - 1;

std::uint32_t entry(What what, std::uint32_t number) {
  return (static_cast<std::uint32_t>(what) << kNumberBits) | (number & kNumbers);
}
What what(std::uint32_t entry) {
  return static_cast<What>(entry >> kNumberBits);
}
std::uint32_t number(std::uint32_t entry) {
  return entry & kNumbers;
}

}  // namespace

void LaunchCorrelator::add_activity(CycleTrace& cycle, std::int64_t correlation) {
  if (correlation <= CorrelationIndex::kNone) return;
  const auto row = static_cast<std::uint32_t>(cycle.device.size() - 1);
  std::uint32_t* const known = index_.find(correlation);
  if (known == nullptr) return index_.insert(correlation, entry(What::rows, row));
  if (what(*known) == What::rows) {
    cycle.device[row].launch = number(*known) & kNoLaunch;
    *known = entry(What::rows, row);
    return;
  }
  std::uint32_t launch = number(*known);
  if (what(*known) == What::waiting) {
    Waiting& waiting = waiting_[(launch - given_up_) & kNumbers];
    launch = add(cycle, waiting.call);
    if (launch == kNoLaunch) return;
    waiting.correlation = CorrelationIndex::kNone;
    *known = entry(What::launch, launch);
  }
  link(cycle, row, launch);
}

void LaunchCorrelator::call(CycleTrace& cycle, const LaunchRow& call, std::int64_t correlation,
                            bool launches) {
  if (correlation <= CorrelationIndex::kNone) return;
  std::uint32_t* const known = index_.find(correlation);
  const bool has_rows = known != nullptr && what(*known) == What::rows;
  if (!has_rows && !launches) {
    if (known == nullptr) wait(call, correlation);
    return;
  }
  const std::uint32_t launch = add(cycle, call);
  if (launch == kNoLaunch) return;
  if (known == nullptr) return index_.insert(correlation, entry(What::launch, launch));
  if (!has_rows) return;  // a second call of that correlation
  link(cycle, number(*known), launch);
  *known = entry(What::launch, launch);
}

std::uint32_t LaunchCorrelator::launch_of(std::int64_t correlation) {
  const std::uint32_t* const known = index_.find(correlation);
  return known != nullptr && what(*known) == What::launch ? number(*known) : kNoLaunch;
}

std::uint32_t LaunchCorrelator::add(CycleTrace& cycle, const LaunchRow& call) {
  if (cycle.launches.size() >= kMostLaunches) {
    ++cycle.left_out;
    return kNoLaunch;
  }
  cycle.launches.push_back(call);
  return static_cast<std::uint32_t>(cycle.launches.size() - 1);
}

// `launch` kNoLaunch: of no launch after all.
void LaunchCorrelator::link(CycleTrace& cycle, std::uint32_t last_row, std::uint32_t launch) {
  for (std::uint32_t row = last_row; row != kNoLaunch;) {
    const std::uint32_t before = cycle.device[row].launch;
    cycle.device[row].launch = launch & kNoLaunch;
    row = before;
  }
}

void LaunchCorrelator::wait(const LaunchRow& call, std::int64_t correlation) {
  if (waiting_.size() == kMostWaiting) {
    const std::int64_t oldest = waiting_.front().correlation;
    if (oldest != CorrelationIndex::kNone) index_.erase(oldest);
    waiting_.pop_front();
    ++given_up_;
  }
  const auto place = static_cast<std::uint32_t>(waiting_.size());
  waiting_.push_back({call, correlation});
  index_.insert(correlation, entry(What::waiting, given_up_ + place));
}

void LaunchCorrelator::finish(CycleTrace& cycle) {
  index_.for_each([&cycle](std::uint32_t known) {
    if (what(known) == What::rows) link(cycle, number(known), kNoLaunch);
  });
  index_.clear();
  release_memory(waiting_);
}

}  // namespace trainwatch
