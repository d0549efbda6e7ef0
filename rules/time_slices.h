// SPDX-License-Identifier: Apache-2.0
// The recent past in slices of event time, for rules about sampled metrics: what they decide is
// about time, and hardly depends on how often something is sampled. A slice is half a second, or
// one sample where those are further apart.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

// `Slice` has a member `Time start`, which this class sets, and state(), which refuses what no
// sample gives.
template <class Slice>
class TimeSlices {
 public:
  static constexpr std::size_t kMost = 240;
  // Kept whatever their age, so that a minute between samples is no obstacle.
  static constexpr std::size_t kLeast = 5;
  // After a longer pause the past says nothing about the present.
  static constexpr Nanos kGap = std::chrono::seconds(150);

  explicit TimeSlices(Nanos width)
      : width_(width),
        slice_(std::max(width / static_cast<std::int64_t>(kMost - 1),
                        Nanos{std::chrono::milliseconds(500)})) {}

  // The slice that `at` belongs to. If that is a new one, `leaves(slice)` sees each slice that it
  // pushes out of the window. Invalidates what a call before returned.
  template <class Leaves>
  Slice& at(Time at, Leaves&& leaves) {
    fresh_ = false;
    if (!all().empty()) {
      const Nanos after = at - slices_.back().start;
      if (after > kGap || after < -kGap) {
        for (const Slice& slice : all()) leaves(slice);
        slices_.clear();
        gone_ = 0;
      } else if (after < slice_) {
        return slices_.back();
      }
    }
    fresh_ = true;
    if (slices_.size() == kRoom) remove_gone();
    slices_.emplace_back().start = at;
    while (all().size() > kLeast && (all().size() > kMost || at - all().front().start > width_)) {
      leaves(slices_[gone_++]);
    }
    return slices_.back();
  }

  // Whether the last call of at() began a slice.
  bool fresh() const { return fresh_; }
  std::span<const Slice> all() const { return std::span(slices_).subspan(gone_); }
  Nanos width() const { return width_; }
  // From the first to the last slice.
  Nanos span() const { return all().empty() ? Nanos{0} : all().back().start - all().front().start; }
  // From one slice to the next, on average.
  Nanos interval() const {
    const auto steps = static_cast<std::int64_t>(all().size()) - 1;
    return steps > 0 ? span() / steps : Nanos{0};
  }
  // Enough slices over at least `least` of time, or over most of a window that is shorter.
  bool covers(Nanos least) const {
    return all().size() >= kLeast && span() >= std::min(least, width_ / 8 * 7);
  }

  // The longest time without a slice for which `holds` is true.
  template <class Predicate>
  Nanos longest_without(Predicate&& holds) const {
    Nanos longest{0};
    Time from = kNoTime;
    for (const Slice& slice : all()) {
      if (from != kNoTime) longest = std::max(longest, slice.start - from);
      if (holds(slice)) {
        from = kNoTime;
      } else if (from == kNoTime) {
        from = slice.start;
      }
    }
    if (from != kNoTime) longest = std::max(longest, slices_.back().start - from + interval());
    return longest;
  }

  // A load fails if the saved slices do not fit.
  void state(StateIo& io) {
    remove_gone();
    io(slices_);
    const auto ordered = [](const Slice& a, const Slice& b) { return a.start < b.start; };
    const bool own = slices_.size() <= kMost &&
                     std::is_sorted(slices_.begin(), slices_.end(), ordered) &&
                     (slices_.empty() || slices_.front().start >= Time{});
    if (own) return;
    io.fail();
    slices_.clear();
  }

 private:
  static constexpr std::size_t kRoom =
      kMost + kMost / 4;  // the slices move to the front once in 60 times

  void remove_gone() {
    slices_.erase(slices_.begin(), slices_.begin() + static_cast<std::ptrdiff_t>(gone_));
    gone_ = 0;
  }

  Nanos width_;
  Nanos slice_;
  std::vector<Slice> slices_;
  std::size_t gone_ = 0;  // how many of them have left the window; these come first
  bool fresh_ = false;    // about the last call only
};

// How long a condition has not held. An alert ends after a time, not after a number of samples.
class ClearTime {
 public:
  // The condition does not hold at `at`; true if it has not for `delay`.
  bool elapsed(Time at, Nanos delay) {
    if (since_ == kNoTime || at < since_) since_ = at;
    return at - since_ >= delay;
  }
  void reset() { since_ = kNoTime; }
  void state(StateIo& io) {
    io(since_);
    if (!is_possible(since_)) io.fail();
  }

 private:
  Time since_ = kNoTime;
};

}  // namespace trainwatch
