// SPDX-License-Identifier: Apache-2.0
// Traces of PyTorch's profiler: the outcome is the same however the bytes are cut, and across
// restarts.
#include <string_view>

#include "fuzz/decode_cuts.h"

namespace trainwatch::fuzz {

void read_kineto(std::string_view input) {
  expect_same_in_any_cut("/job/vm_10.1787426466048337924.pt.trace.json", input);
}

}  // namespace trainwatch::fuzz
