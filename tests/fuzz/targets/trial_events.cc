// SPDX-License-Identifier: Apache-2.0
// Event files of SageMaker Debugger's trials: tensors and losses are the same however the bytes are
// cut, and across restarts.
#include <string_view>

#include "fuzz/decode_cuts.h"

namespace trainwatch::fuzz {

void read_trial_events(std::string_view input) {
  expect_same_in_any_cut("/job/tensors/events/000000000004/000000000004_worker_1.tfevents", input);
}

}  // namespace trainwatch::fuzz
