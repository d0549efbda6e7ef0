// SPDX-License-Identifier: Apache-2.0
// The rank for which the others have waited lately, and for how long: in each iteration that the
// ledger has booked, how much longer the last rank worked than the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trainwatch/booked_iteration.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch::straggler {

class LateRank {
 public:
  // Means per iteration, newer ones with more weight, except `lost`.
  struct Late {
    SubjectId rank = SubjectId::none;
    double seconds = 0;  // that the others waited for it
    double times = 0;    // share of the iterations in which it was last
    double lost = 0;     // seconds since it was first late
    Time since = kNoTime;
    std::int64_t since_step = kNoStep;

    void state(StateIo& io) {
      io(rank);
      io(seconds);
      io(times);
      io(lost);
      io(since);
      io(since_step);
      if (!(seconds >= 0) || !(times >= 0) || !(lost >= 0) || !is_possible(since)) io.fail();
    }
  };

  void add(const BookedIteration& iteration) {
    constexpr double kWeight = 1.0 / 50;
    const double length = to_seconds(std::max(iteration.to - iteration.from, Nanos{}));
    to_ = iteration.to;
    ++known_;
    elapsed_ += kWeight * (length - elapsed_);
    late_ *= 1 - kWeight;
    for (Late& other : ranks_) {
      other.seconds *= 1 - kWeight;
      other.times *= 1 - kWeight;
    }
    if (!(iteration.late > kTiny * length)) return;
    late_ += kWeight;
    Late& rank = of(iteration);
    if (rank.times < kSeldom) {
      rank.lost = 0;
      rank.since = iteration.from;
      rank.since_step = iteration.last_step;
    }
    rank.seconds += kWeight * std::min(iteration.late, elapsed_);
    rank.times += kWeight;
    rank.lost += iteration.late;
  }

  // The rank for which the others wait most; null if there is none or too little is known.
  const Late* worst() const {
    if (known_ < kFewest || ranks_.empty()) return nullptr;
    return &*std::ranges::max_element(ranks_, {}, &Late::seconds);
  }
  // Share of the recent time that the others waited for this rank.
  double share(const Late& rank) const {
    return elapsed_ > 0 ? std::min(rank.seconds / elapsed_, 1.0) : 0;
  }
  // It is nearly always this rank. Where step times vary with the data, the last rank changes.
  bool is_always(const Late& rank) const {
    return rank.times >= kMostTimes && rank.times >= kAlways * late_;
  }
  double elapsed(const Late& rank) const { return to_seconds(to_ - rank.since); }

  void state(StateIo& io) {
    io(ranks_);
    io(to_);
    io(known_);
    io(elapsed_);
    io(late_);
    if (ranks_.size() > kMost || known_ < 0 || !(elapsed_ >= 0) || !(late_ >= 0)) io.fail();
  }

 private:
  static constexpr std::size_t kMost = 16;
  static constexpr std::int64_t kFewest = 20;  // iterations
  static constexpr double kSeldom = 0.1;       // of the iterations
  static constexpr double kMostTimes = 0.4;
  static constexpr double kTiny = 0.04;  // of an iteration
  static constexpr double kAlways = 0.85;

  Late& of(const BookedIteration& iteration) {
    const auto known = std::ranges::find(ranks_, iteration.rank, &Late::rank);
    if (known != ranks_.end()) return *known;
    if (ranks_.size() == kMost) ranks_.erase(std::ranges::min_element(ranks_, {}, &Late::seconds));
    ranks_.push_back(
        {.rank = iteration.rank, .since = iteration.from, .since_step = iteration.last_step});
    return ranks_.back();
  }

  std::vector<Late> ranks_;
  Time to_ = kNoTime;
  std::int64_t known_ = 0;
  double elapsed_ = 0;
  double late_ = 0;
};

}  // namespace trainwatch::straggler
