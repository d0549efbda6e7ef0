// SPDX-License-Identifier: Apache-2.0
// Traces of TensorFlow's profiler: the outcome is the same however the bytes are cut, and across
// restarts.
#include <string_view>

#include "fuzz/decode_cuts.h"

namespace trainwatch::fuzz {

void read_tensorflow(std::string_view input) {
  expect_same_in_any_cut("/job/plugins/profile/2026_11_22/host-1.local.trace.json", input);
}

}  // namespace trainwatch::fuzz
