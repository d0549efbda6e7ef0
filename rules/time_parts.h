// SPDX-License-Identifier: Apache-2.0
// Where the time of an iteration goes, and what has grown when training became slower.
#pragma once

#include <algorithm>
#include <cmath>

#include "trainwatch/event.h"

namespace trainwatch::throughput_regression {

// Means in seconds; zero what the writer does not write.
struct Parts {
  double wait = 0;
  double between = 0;  // neither step nor wait
  double outside = 0;  // the phases of the step
  double forward = 0;
  double backward = 0;
  double optimizer = 0;
  double total = 0;

  void add(const Step& step, double weight) {
    const auto follow = [weight](double& mean, Nanos took) {
      mean += weight * (to_seconds(std::max(took, Nanos{})) - mean);
    };
    follow(wait, step.data_wait);
    follow(between, step.between());
    follow(outside, step.outside_phases());
    follow(forward, step.forward);
    follow(backward, step.backward);
    follow(optimizer, step.optimizer);
    follow(total, step.iteration());
  }
};

class Growth {
 public:
  Growth(const Parts& before, const Parts& now) : before_(before), now_(now) {}

  double total() const { return now_.total - before_.total; }
  double waits() const { return now_.wait - before_.wait; }
  double between() const { return now_.between - before_.between; }
  double outside() const { return now_.outside - before_.outside; }
  double forward() const { return now_.forward - before_.forward; }
  double backward() const { return now_.backward - before_.backward; }

  // The time between two steps is so long that computation must be in it: the writer's step ends
  // with its forward pass.
  bool hides_computation() const { return before_.between >= kHidden * before_.total; }

  // Forward and backward pass grew in proportion and by most of the growth, and what does not
  // depend on the size of a batch did not: the optimizer, or the time between the steps that holds
  // it.
  bool is_of_batches() const {
    const double fixed_before = before_.optimizer > 0 ? before_.optimizer : before_.between;
    const double fixed_now = before_.optimizer > 0 ? now_.optimizer : now_.between;
    if (before_.forward <= 0 || before_.backward <= 0 || hides_computation()) return false;
    if (fixed_before < kLeastPart * before_.total) return false;
    if (forward() + backward() < kHalf * total()) return false;
    const double forward_more = now_.forward / before_.forward - 1;
    const double backward_more = now_.backward / before_.backward - 1;
    return forward_more > 0 &&
           std::fabs(forward_more - backward_more) <=
               kAlike * std::max(forward_more, backward_more) &&
           fixed_now / fixed_before - 1 <= kFixed * forward_more;
  }

  // Nothing speaks against longer sequences or larger batches, but the writer gives too few phases
  // to be sure.
  bool may_be_of_batches() const {
    if (before_.forward <= 0) return std::max(waits(), between()) < kHalf * total();
    if (!hides_computation()) return false;
    const double forward_more = forward() / before_.forward;
    return waits() < kHalf * total() && forward_more >= kHalf * total() / before_.total;
  }

  // The forward pass, which waits for nobody, and the rest take longer alike.
  bool is_of_computation() const {
    const double rest = before_.total - before_.forward;
    if (before_.forward <= 0 || rest <= 0) return false;
    const double more = forward() / before_.forward;
    const double rest_more = (total() - forward()) / rest;
    const auto [less, most] = std::minmax(more, rest_more);
    return less > 0 && less >= kAlike * most;
  }

  // Only the backward pass takes longer, in which the ranks wait for each other.
  bool is_of_waiting_for_ranks() const {
    return before_.optimizer > 0 && backward() >= kMostly * total() &&
           forward() <= kLittle * backward();
  }

 private:
  static constexpr double kHidden = 0.25;     // of an iteration
  static constexpr double kLeastPart = 0.01;  // of an iteration, to be compared
  static constexpr double kAlike = 0.4;
  static constexpr double kHalf = 0.5;
  static constexpr double kFixed = 0.4;  // of the growth of the forward pass
  static constexpr double kMostly = 0.8;
  static constexpr double kLittle = 0.1;

  const Parts& before_;
  const Parts& now_;
};

}  // namespace trainwatch::throughput_regression
