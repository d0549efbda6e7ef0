// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/epoch_steps.h"

#include <algorithm>
#include <utility>

namespace trainwatch {

void EpochSteps::learn_length(const EpochPlace& at, const EpochPlace& before) {
  if (at.of > 0) {
    per_epoch_ = at.of;
    return;
  }
  if (before.count == kNoStep) return;
  if (at.epoch == before.epoch) {
    gap_ = std::max<std::int64_t>(at.count - before.count, 0);
    per_epoch_ = std::max(per_epoch_, at.count);
  } else if (counts_ == Counts::within_epochs && at.epoch == before.epoch + 1) {
    per_epoch_ = std::max(per_epoch_, before.count + gap_ - std::min(at.count, gap_));
  }
}

std::int64_t EpochSteps::step_of(const EpochPlace& at, std::optional<std::int64_t> first_epoch,
                                 bool over_all) {
  const EpochPlace before = std::exchange(last_, at);
  if (at.epoch == kNoStep) return at.count;
  if (at.count == kNoStep) return at.epoch;
  if (over_all) return at.count;
  if (first_epoch_ == kNoStep) {
    first_epoch_ = first_epoch.value_or(at.epoch == 1 ? 1 : 0);
    if (at.of == 0) first_epoch_ = at.epoch;
  }
  if (counts_ == Counts::undecided && before.epoch != kNoStep && at.epoch > before.epoch) {
    const bool rises = (at.of == 0 || !first_epoch) && at.count > before.count;
    counts_ = rises ? Counts::over_all : Counts::within_epochs;
  }
  learn_length(at, before);
  constexpr std::int64_t kMost = 1'000'000'000;
  const std::int64_t epochs = at.epoch - first_epoch_;
  const bool adds =
      counts_ != Counts::over_all && epochs > 0 && epochs < kMost && per_epoch_ < kMost;
  return adds ? at.count + epochs * per_epoch_ : at.count;
}

void EpochSteps::state(StateIo& io) {
  io(last_);
  io(gap_);
  io(first_epoch_);
  io(per_epoch_);
  io(counts_);
  if (counts_ >= Counts::count_) io.fail();
}

}  // namespace trainwatch
