// SPDX-License-Identifier: Apache-2.0
// A tensor that a training job has saved, as rules see it: SageMaker Debugger writes weights,
// gradients, losses, inputs and outputs of chosen steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trainwatch/event.h"
#include "trainwatch/subject.h"
#include "trainwatch/symbol_table.h"
#include "trainwatch/time.h"

namespace trainwatch {

// What one pass over the elements gives, for all rules. Elements that are not finite count only as
// such: the figures are those of the finite ones, 0 if there are none.
struct TensorStatistics {
  std::uint64_t count = 0;  // elements
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;
  std::uint64_t zeros = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double variance = 0;  // of the population, as numpy.var
  double abs_mean = 0;
  double l2 = 0;  // the square root of the sum of squares

  std::uint64_t finite() const { return count - nans - infinities; }
};

struct Tensor {
  static constexpr std::size_t kMostSamples = 4096;
  static constexpr std::size_t kMostValues = std::size_t{1} << 21U;

  Time at{};              // when it was written
  std::int64_t step = 0;  // global: counts all modes
  std::int64_t mode_step = 0;
  Mode mode = Mode::global;
  SubjectId subject = SubjectId::none;    // job, and the rank of the worker where it has one
  Symbol name = Symbol::none;             // "gradient/Net_fc1.weight"
  std::span<const Symbol> collections{};  // "gradients", as the trial says
  std::span<const std::int64_t> shape{};  // empty: a scalar
  TensorStatistics statistics;
  // Row-major. Of more than kMostSamples elements every so many, the same ones at each step:
  // sample[i] is element i * count / kMostSamples. Otherwise all.
  std::span<const double> sample{};
  // All elements, row-major; empty if there are more than kMostValues.
  std::span<const double> values{};
};

// Receives every tensor as it is read. Called on the decoding thread; nothing in it may be kept.
class TensorSink {
 public:
  virtual ~TensorSink() = default;
  virtual void tensor(const Tensor& tensor) = 0;
  // Whether anyone takes tensors; if not, they need not be read.
  virtual bool wants_tensors() const = 0;
};

}  // namespace trainwatch
