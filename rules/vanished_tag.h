// SPDX-License-Identifier: Apache-2.0
// Notices that a value which was in every record of a log is in none any more, while the other
// values of the same records go on: some writers leave out what is not a finite number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/scalar.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// The record that is being read: tags and what they mean. The scalars of a record come in a row.
class CurrentRecord {
 public:
  static constexpr std::size_t kMostTags = 64;  // further ones are passed over

  // True: the record is complete. Call begin_next() after it was looked at.
  bool add(const Scalar& scalar) {
    const auto known = std::ranges::find(tags_, scalar.tag);
    if (known == tags_.end() && tags_.size() < kMostTags) tags_.push_back(scalar.tag);
    has_loss_ = has_loss_ || scalar.kind == ScalarKind::loss;
    evaluates_ = evaluates_ || scalar.kind == ScalarKind::validation_loss;
    return scalar.ends_record;
  }
  void begin_next() {
    tags_.clear();
    has_loss_ = evaluates_ = false;
  }

  bool has(Symbol tag) const { return std::ranges::find(tags_, tag) != tags_.end(); }
  const std::vector<Symbol>& tags() const { return tags_; }
  // A loss of the training, any; a loss of an evaluation.
  bool has_loss() const { return has_loss_; }
  bool evaluates() const { return evaluates_; }

  void state(StateIo& io) {
    io(tags_);
    io(has_loss_);
    io(evaluates_);
    if (tags_.size() > kMostTags) io.fail();
  }

 private:
  std::vector<Symbol> tags_;
  bool has_loss_ = false;
  bool evaluates_ = false;
};

// One tag of the loss in the records of its rank. Only records whose step is beyond all before
// count, so that a second file that repeats what was logged changes nothing.
class VanishedTag {
 public:
  static constexpr std::uint64_t kUsual = 20;         // records in a row that had it
  static constexpr std::uint64_t kMissing = 5;        // records in a row that lack it
  static constexpr std::size_t kMostCompanions = 16;  // values that were in all of them

  // A record without the tag has ended, at `step`. True: it is one more in which it is missing.
  bool lacks(const CurrentRecord& record, std::int64_t step, Time at) {
    if (record.has_loss() || record.evaluates() || !goes_on(record) || step <= latest_) {
      return false;
    }
    latest_ = step;
    if (usual_ < kUsual) {  // it is logged now and then
      usual_ = 0;
      return false;
    }
    if (++missing_ == 1) {
      since_step_ = step;
      since_ = at;
    }
    return missing_ >= kMissing;
  }
  // A record with the tag has ended.
  void has(const CurrentRecord& record, Symbol tag, std::int64_t step) {
    if (missing_ > 0 || usual_ == 0) begin(record, tag);
    missing_ = 0;
    if (step <= latest_) return;
    latest_ = step;
    if (usual_ < kUsual) ++usual_;
    std::erase_if(companions_, [&record](Symbol other) { return !record.has(other); });
  }
  // What follows is of another attempt.
  void restart() { *this = {}; }

  bool is_missing() const { return missing_ >= kMissing; }
  std::uint64_t missing() const { return missing_; }
  std::int64_t since_step() const { return since_step_; }
  Time since() const { return since_; }
  std::int64_t latest() const { return latest_; }

  bool possible() const {
    return usual_ <= kUsual && latest_ >= kNoStep && since_step_ >= kNoStep &&
           is_possible(since_) && companions_.size() <= kMostCompanions;
  }
  void state(StateIo& io) {
    io(usual_);
    io(missing_);
    io(latest_);
    io(since_step_);
    io(since_);
    io(companions_);
  }

 private:
  void begin(const CurrentRecord& record, Symbol tag) {
    usual_ = 0;
    companions_.clear();
    for (const Symbol other : record.tags()) {
      if (other != tag && companions_.size() < kMostCompanions) companions_.push_back(other);
    }
  }
  // At least half of what was beside it is there.
  bool goes_on(const CurrentRecord& record) const {
    const auto there = static_cast<std::size_t>(
        std::ranges::count_if(companions_, [&record](Symbol other) { return record.has(other); }));
    return there > 0 && 2 * there >= companions_.size();
  }

  std::uint64_t usual_ = 0;
  std::uint64_t missing_ = 0;
  std::int64_t latest_ = kNoStep;
  std::int64_t since_step_ = kNoStep;  // of the first record that lacks it
  Time since_ = kNoTime;
  std::vector<Symbol> companions_;  // other values, of all records that had it
};

}  // namespace trainwatch
