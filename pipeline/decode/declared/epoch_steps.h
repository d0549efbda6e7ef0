// SPDX-License-Identifier: Apache-2.0
// Converts steps that a log counts within each epoch to steps since the beginning of the training.
#pragma once

#include <cstdint>
#include <optional>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// The position of a record: step `count` of `of` in an epoch. A missing number is kNoStep, a
// missing `of` 0.
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
  // Call once for each record, in order. `first_epoch`: the number of the first epoch; nullopt: 0
  // or 1, depending on the first records. `over_all`: the count is not reset for each epoch.
  //
  // If no record has the length of an epoch, it is estimated when the second epoch begins: the last
  // count plus the distance between two records, minus the first count. The steps of epochs before
  // the first one seen are then unknown.
  std::int64_t step_of(const EpochPlace& at, std::optional<std::int64_t> first_epoch,
                       bool over_all = false);
  const EpochPlace& last() const { return last_; }
  // True once the second epoch has shown that the count is not reset for each epoch.
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
