#include "pipeline/decode/kineto/host_activity.h"

#include <algorithm>

#include "pipeline/decode/decimal_time.h"

namespace trainwatch {
namespace {

bool reaches(const Interval& earlier, const Interval& later) {
  return later.start_ns < saturating_add(earlier.end_ns, HostActivity::kShortestPauseNs);
}

}  // namespace

void HostActivity::add(const Interval& active) {
  // Nearly always the next one of the same thread.
  if (!parts_.empty() && active.start_ns >= parts_.back().start_ns &&
      reaches(parts_.back(), active)) {
    parts_.back().end_ns = std::max(parts_.back().end_ns, active.end_ns);
    return;
  }
  auto first = std::partition_point(parts_.begin(), parts_.end(), [&](const Interval& part) {
    return part.end_ns < active.start_ns && !reaches(part, active);
  });
  auto last = std::partition_point(first, parts_.end(), [&](const Interval& part) {
    return part.start_ns <= active.end_ns || reaches(active, part);
  });
  if (first == last) {
    if (parts_.size() == kMostParts) {
      too_many_ = true;
    } else {
      parts_.insert(first, active);
    }
    return;
  }
  first->start_ns = std::min(first->start_ns, active.start_ns);
  first->end_ns = std::max(std::prev(last)->end_ns, active.end_ns);
  parts_.erase(std::next(first), last);
}

std::vector<Interval> HostActivity::pauses() const {
  std::vector<Interval> found;
  if (too_many_) return found;
  for (std::size_t i = 1; i < parts_.size(); ++i)
    found.push_back({parts_[i - 1].end_ns, parts_[i].start_ns});
  return found;
}

}  // namespace trainwatch
