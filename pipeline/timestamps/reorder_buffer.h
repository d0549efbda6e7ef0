// SPDX-License-Identifier: Apache-2.0
// Sorts the samples of one lane by time. A lane counts as ordered until a sample is out of order;
// from then on, samples wait for as long as the greatest disorder seen, and leave sorted by time,
// equal times by arrival. Unless a sample is later than that, the output is the sorted input.
//
// Bounded: beyond kMaxWaiting samples those of the oldest time leave early.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "pipeline/timestamps/event_time.h"
#include "trainwatch/event.h"

namespace trainwatch {

class ReorderBuffer {
 public:
  static constexpr std::size_t kMaxWaiting = 4096;

  explicit ReorderBuffer(const TimestampFilterOptions& options);

  // True if a sample that is no older than any before passes without waiting.
  bool idle() const { return hold_ == Nanos{0} && waiting_.empty(); }

  // `newest` is the latest time of the lane, including this sample.
  void add(const Sample& sample, Time newest, EventBatch& out);
  void release_all(EventBatch& out);

  void state(StateIo& io);

 private:
  using Ticks = std::map<Time, std::vector<Sample>>;  // of one time in order of arrival

  void insert(const Sample& sample);
  void release_oldest(EventBatch& out);  // those of one time

  Nanos longest_hold_;
  Nanos hold_;
  Ticks waiting_;
  std::size_t count_ = 0;                   // of the samples that wait
  std::vector<std::vector<Sample>> spare_;  // of former ticks, for their memory
};

}  // namespace trainwatch
