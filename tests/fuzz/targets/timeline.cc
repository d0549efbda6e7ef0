// SPDX-License-Identifier: Apache-2.0
// SageMaker's timelines: the outcome is the same however the bytes are cut, and across restarts.
#include <string_view>

#include "fuzz/decode_cuts.h"

namespace trainwatch::fuzz {

void read_timeline(std::string_view input) {
  expect_same_in_any_cut(
      "/job/framework/pevents/2026112104/1795236016087300_0-algo-1_pythontimeline.json", input);
}

}  // namespace trainwatch::fuzz
