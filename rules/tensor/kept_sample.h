// SPDX-License-Identifier: Apache-2.0
// A sample of a tensor's elements at an earlier step, to compare a later step with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/tensor.h"

namespace trainwatch {

// At most Tensor::kMostSamples floats: with as many tensors as kMostKeptSamples 2 MiB.
class KeptSample {
 public:
  std::int64_t step() const { return step_; }
  // Of a tensor with as many elements: element i here is element i of its sample.
  bool fits(const Tensor& tensor) const {
    return count_ == tensor.statistics.count && values_.size() == tensor.sample.size();
  }
  std::span<const float> values() const { return values_; }

  void keep(const Tensor& tensor, std::int64_t step) {
    values_.assign(tensor.sample.begin(), tensor.sample.end());
    count_ = tensor.statistics.count;
    step_ = step;
  }

  bool possible() const { return values_.size() <= Tensor::kMostSamples && step_ >= kNoStep; }
  void state(StateIo& io) {
    io(values_);
    io(count_);
    io(step_);
  }

 private:
  std::vector<float> values_;
  std::uint64_t count_ = 0;  // elements of the tensor
  std::int64_t step_ = kNoStep;
};

inline constexpr std::size_t kMostKeptSamples = 128;  // tensors and modes of a rule and rank

}  // namespace trainwatch
