// Puts the samples of one lane in the order of their times. A lane is taken as ordered until it
// shows otherwise: then its samples wait for as long as the greatest disorder seen, and come out
// sorted by time, equal times by arrival. As long as no sample is later than the samples wait, the
// result is the sorted input.
//
// Bounded: of more than kMaxWaiting samples the oldest go first.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/engine/time_gate_options.h"
#include "trainwatch/event.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

class SampleOrder {
 public:
  static constexpr std::size_t kMaxWaiting = 4096;

  explicit SampleOrder(const TimeGateOptions& options);

  // True when a sample that is not older than any before goes straight through.
  bool idle() const { return hold_ == Nanos{0} && waiting_.empty(); }

  // `newest` is the greatest time of the lane, this sample's included.
  void add(const Sample& sample, Time newest, EventBatch& out);
  void release_all(EventBatch& out);

  void state(StateIo& io, const Vocabulary& vocabulary);

 private:
  struct Waiting {
    Sample sample;
    std::uint64_t arrival = 0;
  };
  static bool comes_later(const Waiting& a, const Waiting& b);
  void release_oldest(EventBatch& out);

  Nanos longest_hold_;
  Nanos hold_;
  std::uint64_t arrivals_ = 0;
  std::vector<Waiting> waiting_;  // a heap, the oldest in front
};

}  // namespace trainwatch
