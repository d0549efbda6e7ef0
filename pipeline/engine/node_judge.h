// SPDX-License-Identifier: Apache-2.0
// Finds the cause of a loss of the ledger in what the samples of the node say: the same judge as
// that of alerts.
#pragma once

#include <optional>

#include "pipeline/analysis/core/attribution.h"
#include "pipeline/ledger/job_iterations.h"
#include "trainwatch/time.h"

namespace trainwatch {

class NodeJudge final : public LossJudge {
 public:
  // All outlive it; `latest`: the newest event.
  NodeJudge(const Attribution& attribution, const Time& latest)
      : attribution_(attribution), latest_(latest) {}

  std::optional<LifePart> judge(const Loss& loss) const override;

 private:
  const Attribution& attribution_;
  const Time& latest_;
};

}  // namespace trainwatch
