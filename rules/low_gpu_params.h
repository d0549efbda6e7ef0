// SPDX-License-Identifier: Apache-2.0
// What the two ways to judge the utilisation of a GPU share: parameters, reasons and sentences.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainwatch::low_gpu_utilization {

struct Params {
  double threshold_p95 = 70;
  double threshold_p5 = 10;
  double window_seconds = 80;  // 0: as SageMaker, by samples
  double warmup_seconds = 60;
  double recovery_seconds = 60;
  // By samples:
  std::int64_t window = 500;
  std::int64_t patience = 1000;
  std::int64_t recovery_samples = 20;
};

enum class Reason : std::uint8_t { none, under_utilised, fluctuating };

inline std::string_view name_of(Reason reason) {
  return reason == Reason::fluctuating ? "fluctuating" : "under_utilised";
}

inline std::string_view advice_for(Reason reason) {
  return reason == Reason::fluctuating
             ? "Something makes the GPU wait at intervals: look for input waits, "
               "synchronisation or evaluation in the step timeline."
             : "Give the GPU more work at a time, such as a larger batch or a larger "
               "model, or use a smaller or shared GPU.";
}

}  // namespace trainwatch::low_gpu_utilization
