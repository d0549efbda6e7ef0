// SPDX-License-Identifier: Apache-2.0
// Steps that a log counts within epochs, counted over all of them.
#pragma once

#include <cstdint>
#include <optional>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// Where a record is: step `count` of `of` in an epoch. What it does not say is kNoStep, `of` 0.
struct EpochPlace {
  std::int64_t epoch = kNoStep;
  std::int64_t count = kNoStep;
  std::int64_t of = 0;

  bool is_same(const EpochPlace& other) const {
    return epoch == other.epoch && count == other.count;
  }
  bool is_before(const EpochPlace& other) const {
    return epoch != other.epoch ? epoch < other.epoch : count < other.count;
  }
  void state(StateIo& io) {
    io(epoch);
    io(count);
    io(of);
  }
};

class EpochSteps {
 public:
  // Call once for each record, in order. `first_epoch`: the number of the first one; nullopt: it is
  // 0 or 1, as the first records say. `over_all`: the count does not begin anew.
  //
  // Where no record says how long an epoch is, its length is learned when the second begins: the
  // last count, and as much more as from one record to the next, less the first count. Steps of the
  // epochs before the first that is seen are not known then.
  std::int64_t step_of(const EpochPlace& at, std::optional<std::int64_t> first_epoch,
                       bool over_all = false);
  const EpochPlace& last() const { return last_; }
  // The count goes on from epoch to epoch, as the second has shown.
  bool counts_over_all() const { return counts_ == Counts::over_all; }

  void state(StateIo& io);

 private:
  enum class Counts : std::uint8_t { undecided, within_epochs, over_all, count_ };

  void learn_length(const EpochPlace& at, const EpochPlace& before);

  EpochPlace last_;       // whose step was asked for
  std::int64_t gap_ = 0;  // between the counts of two records of an epoch
  std::int64_t first_epoch_ = kNoStep;
  std::int64_t per_epoch_ = 0;
  Counts counts_ = Counts::undecided;
};

}  // namespace trainwatch
