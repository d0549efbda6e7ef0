// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files: the outcome is the same however the bytes are cut, and across
// restarts.
#include <string_view>

#include "fuzz/decode_cuts.h"

namespace trainwatch::fuzz {

void read_tensorboard(std::string_view input) {
  expect_same_in_any_cut("/job/runs/events.out.tfevents.1795597538.host.7.0", input);
}

}  // namespace trainwatch::fuzz
