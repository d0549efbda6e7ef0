// SPDX-License-Identifier: Apache-2.0
// W&B's files: the outcome is the same however the bytes are cut, and across restarts.
#include <string_view>

#include "fuzz/decode_cuts.h"

namespace trainwatch::fuzz {

void read_wandb(std::string_view input) {
  expect_same_in_any_cut("/job/wandb/run-20231114_221320-abc/run-abc.wandb", input);
}

}  // namespace trainwatch::fuzz
