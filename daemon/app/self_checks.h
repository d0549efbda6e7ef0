// What is wrong with the daemon as a whole, for its self-alerts.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "daemon/app/commit_health.h"
#include "pipeline/engine/pipeline_report.h"
#include "pipeline/engine/self_alerts.h"

namespace trainwatch {

struct DaemonState {
  const CommitHealth& storing;
  const TailReport& tail;
  const std::string& state_lost;                         // empty: it was not
  std::chrono::steady_clock::duration reader_silence{};  // since its last report
};

std::vector<SelfCondition> self_checks(const DaemonState& state);

}  // namespace trainwatch
