// SPDX-License-Identifier: Apache-2.0
// Losses as rules see them, whether the job saves them as tensors or logs them as scalars.
#pragma once

#include <cmath>
#include <optional>

#include "rules/tensor/tensor_rule.h"
#include "trainwatch/scalar.h"

namespace trainwatch {

struct LossPoint {
  TensorPlace place;
  double value = 0;
};

// A tensor of one finite element. Others are exploding_tensor's, or no losses.
inline std::optional<LossPoint> loss_point(const Tensor& tensor) {
  if (tensor.statistics.count != 1 || tensor.statistics.finite() != 1) return std::nullopt;
  return LossPoint{place_of(tensor), tensor.statistics.mean};
}

// A finite loss that the job logs: of training, or, in mode eval, of a validation.
inline std::optional<LossPoint> loss_point(const Scalar& scalar) {
  const bool trains = scalar.kind == ScalarKind::loss;
  if (!trains && scalar.kind != ScalarKind::validation_loss) return std::nullopt;
  if (!std::isfinite(scalar.value)) return std::nullopt;
  const Mode mode = trains ? Mode::train : Mode::eval;
  return LossPoint{{scalar.tag, mode, scalar.step, scalar.at}, scalar.value};
}

}  // namespace trainwatch
