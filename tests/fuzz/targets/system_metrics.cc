// SPDX-License-Identifier: Apache-2.0
// System metrics: the outcome is the same however the bytes are cut, and across restarts.
#include <string_view>

#include "fuzz/decode_cuts.h"

namespace trainwatch::fuzz {

void read_system_metrics(std::string_view input) {
  expect_same_in_any_cut("/job/system/incremental/2026112200/1795236000.algo-1.json", input);
}

}  // namespace trainwatch::fuzz
