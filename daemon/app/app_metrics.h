// Metrics about the program itself: build and configuration.
#pragma once

#include <chrono>
#include <vector>

#include "trainwatch/snapshot.h"

namespace trainwatch {

struct ReloadState {
  bool successful = true;
  std::chrono::system_clock::time_point last_success{};
};

void app_metrics(const ReloadState& reloads, std::vector<MetricFamily>& out);

}  // namespace trainwatch
