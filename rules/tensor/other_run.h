// SPDX-License-Identifier: Apache-2.0
// The run that others are compared with: digests of its tensors, and how far it has got.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "rules/tensor/tensor_digest.h"
#include "rules/tensor/tensor_rule.h"

namespace trainwatch {

class OtherRun {
 public:
  static constexpr std::size_t kMostKept = 8192;    // tensors: 2.5 MB
  static constexpr std::size_t kMostPlaces = 4096;  // ranks and modes

  // The first that come are kept.
  void keep(std::int32_t rank, const TensorPlace& place, const TensorDigest& digest) {
    const Key key{rank, place.mode, place.step, place.name};
    const auto known = digests_.find(key);
    if (known != digests_.end()) {
      known->second = digest;
    } else if (digests_.size() < kMostKept) {
      digests_.emplace(key, digest);
    } else {
      has_more_ = true;
    }
    const std::pair at(rank, place.mode);
    if (latest_.size() >= kMostPlaces && !latest_.contains(at)) return;
    std::int64_t& latest = latest_.try_emplace(at, kNoStep).first->second;
    latest = std::max(latest, place.step);
  }
  // Null: it has none, or not yet.
  const TensorDigest* find(std::int32_t rank, const TensorPlace& place) const {
    const auto known = digests_.find({rank, place.mode, place.step, place.name});
    return known == digests_.end() ? nullptr : &known->second;
  }
  bool is_past(std::int32_t rank, const TensorPlace& place) const {
    const auto latest = latest_.find({rank, place.mode});
    return latest != latest_.end() && latest->second > place.step;
  }
  bool empty() const { return latest_.empty(); }
  bool has_more() const { return has_more_; }

  void state(StateIo& io) {
    io(digests_);
    io(latest_);
    io(has_more_);
    if (digests_.size() > kMostKept || latest_.size() > kMostPlaces) io.fail();
  }

 private:
  struct Key {
    std::int32_t rank = kNoRank;
    Mode mode = Mode::global;
    std::int64_t step = kNoStep;
    Symbol name = Symbol::none;

    auto operator<=>(const Key&) const = default;
  };

  std::map<Key, TensorDigest> digests_;  // the first that came
  std::map<std::pair<std::int32_t, Mode>, std::int64_t> latest_;
  bool has_more_ = false;
};

}  // namespace trainwatch
