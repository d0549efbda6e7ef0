// SPDX-License-Identifier: Apache-2.0
// Which rank the others have waited for lately, and how long, by the iterations that the ledger has
// booked: the work of a rank that came last, beyond that of the others.
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
  // What is known of a rank: seconds, and iterations, newer ones with more weight.
  struct Late {
    SubjectId rank = SubjectId::none;
    double seconds = 0;
    double times = 0;
    double lost = 0;  // since it was late first, with no weight
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
    if (from_ == kNoTime) from_ = iteration.from;
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

  // That the others wait for most; null: for none, or too little is known.
  const Late* worst() const {
    if (known_ < kFewest || ranks_.empty()) return nullptr;
    return &*std::ranges::max_element(ranks_, {}, &Late::seconds);
  }
  // Of the time, lately.
  double share(const Late& rank) const {
    return elapsed_ > 0 ? std::min(rank.seconds / elapsed_, 1.0) : 0;
  }
  // It is the same rank nearly always: where lengths vary with the data, it is another each time.
  bool is_always(const Late& rank) const {
    return rank.times >= kMostTimes && rank.times >= kAlways * late_;
  }
  Time to() const { return to_; }
  double elapsed(const Late& rank) const { return to_seconds(to_ - rank.since); }

  void state(StateIo& io) {
    io(ranks_);
    io(from_);
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
  Time from_ = kNoTime;
  Time to_ = kNoTime;
  std::int64_t known_ = 0;
  double elapsed_ = 0;
  double late_ = 0;
};

}  // namespace trainwatch::straggler
