// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/work_meter.h"

#include <algorithm>
#include <cmath>

namespace trainwatch {
namespace {

constexpr double kCompiles = 5;  // records that say nothing
constexpr double kProof = 25;    // records that prove it
constexpr double kAsMuch = 1.3;  // of the variance of the times
constexpr double kFarLess = 0.25;
constexpr double kLeastVariance = 1e-6;
constexpr double kCounted = 4;     // times the first value, of what is counted from the beginning
constexpr double kMostWork = 1e4;  // or its inverse

bool is_positive(double value) {
  return value > 0 && value <= 1e18;
}

// A higher rank is preferred; 0: no rate.
int rank_of(ScalarKind kind) {
  if (kind == ScalarKind::tokens_per_second) return 3;
  if (kind == ScalarKind::samples_per_second) return 2;
  return kind == ScalarKind::tflops_per_gpu ? 1 : 0;
}

}  // namespace

void WorkMeter::Spread::add(double value) {
  ++count;
  const double distance = value - mean;
  mean += distance / count;
  squares += distance * (value - mean);
}

void WorkMeter::on(const Scalar& scalar) {
  evaluates_ = evaluates_ || scalar.kind == ScalarKind::validation_loss;
  if (!is_positive(scalar.value)) return;
  if (scalar.kind == ScalarKind::step_tokens) {
    tokens_ = scalar.value;
  } else if (scalar.kind == ScalarKind::step_size) {
    size_ = (size_ > 0 ? size_ : 1) * scalar.value;
  } else if (rank_of(scalar.kind) > rank_of(rate_kind_) || scalar.kind == rate_kind_) {
    if (rank_of(scalar.kind) == 0) return;
    rate_kind_ = scalar.kind;
    declared_ = !scalar.guessed;
    rate_ = scalar.value;
  }
}

double WorkMeter::size_of_record(double steps) {
  if (tokens_ <= 0) return size_;
  const double before = tokens_before_;
  tokens_before_ = tokens_;
  if (first_tokens_ <= 0) first_tokens_ = tokens_;
  growing_ = tokens_ > before && before > 0 ? growing_ + 1 : 0;
  if (!counted_ && growing_ >= kProof / 2 && tokens_ >= kCounted * first_tokens_) {
    counted_ = true;
    times_ = {};
    sizes_ = rates_ = {};
    records_ = kCompiles;
    basis_ = Basis::none;
  }
  if (!counted_) return tokens_;
  return before > 0 && tokens_ > before ? (tokens_ - before) / steps : 0;
}

double WorkMeter::end_record(double seconds, double steps) {
  const double size = size_of_record(std::max(steps, 1.0));
  const double rated = rate_ > 0 && !evaluates_ ? rate_ * seconds : 0;
  evaluates_ = false;
  size_ = tokens_ = rate_ = 0;
  if (!is_positive(seconds) || (size <= 0 && rated <= 0)) return 1;
  ++records_;
  const double time = std::log(seconds);
  if (records_ > kCompiles && records_ <= kCompiles + kProof) {
    times_.add(time);
    const auto add = [time](Proof& proof, double work) {
      if (work <= 0) return;
      proof.work.add(std::log(work));
      proof.rest.add(time - std::log(work));
    };
    add(sizes_, size);
    add(rates_, rated);
    if (records_ == kCompiles + kProof) decide();
  }
  const double work = basis_ == Basis::sizes ? size : basis_ == Basis::rates ? rated : 0;
  if (work <= 0) return 1;
  const Proof& proof = basis_ == Basis::sizes ? sizes_ : rates_;
  return std::clamp(work / std::exp(proof.work.mean), 1 / kMostWork, kMostWork);
}

void WorkMeter::decide() {
  const double variance = std::max(times_.variance(), kLeastVariance);
  const bool all_sizes = sizes_.work.count == times_.count;
  const bool all_rates = rates_.work.count == times_.count;
  if (all_sizes && sizes_.rest.variance() <= kAsMuch * variance) {
    basis_ = Basis::sizes;
  } else if (all_rates && (rates_.work.variance() <= kFarLess * variance ||
                           (declared_ && rates_.rest.variance() <= kFarLess * variance))) {
    basis_ = Basis::rates;
  }
}

void WorkMeter::Spread::state(StateIo& io) {
  io(mean);
  io(squares);
  io(count);
  if (!std::isfinite(mean) || !(squares >= 0) || !(count >= 0)) io.fail();
}

void WorkMeter::Proof::state(StateIo& io) {
  io(work);
  io(rest);
}

void WorkMeter::state(StateIo& io) {
  io(tokens_);
  io(size_);
  io(rate_);
  io(rate_kind_);
  io(tokens_before_);
  io(first_tokens_);
  io(growing_);
  io(counted_);
  io(times_);
  io(sizes_);
  io(rates_);
  io(records_);
  io(evaluates_);
  io(declared_);
  io(basis_);
  const bool possible = basis_ < Basis::count_ && rate_kind_ < ScalarKind::count_ && tokens_ >= 0 &&
                        size_ >= 0 && rate_ >= 0 && tokens_before_ >= 0 && first_tokens_ >= 0 &&
                        growing_ >= 0 && records_ >= 0;
  if (!possible) io.fail();
}

}  // namespace trainwatch
