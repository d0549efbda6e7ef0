// SPDX-License-Identifier: Apache-2.0
// The entry of libFuzzer: TRAINWATCH_FUZZ_TARGET names the target of this process;
// without it the targets are listed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/fuzz_target.h"

namespace {

const trainwatch::fuzz::FuzzTarget* chosen = nullptr;

}  // namespace

// Lists the targets if none of them is named.
extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
  const char* name = std::getenv("TRAINWATCH_FUZZ_TARGET");
  chosen = trainwatch::fuzz::find_fuzz_target(name == nullptr ? "" : name);
  if (chosen != nullptr) return 0;
  for (const auto& known : trainwatch::fuzz::fuzz_targets()) {
    std::printf("%.*s\n", static_cast<int>(known.name.size()), known.name.data());
  }
  std::exit(name == nullptr ? 0 : 2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > chosen->max_bytes) return -1;  // libFuzzer does not keep it
  chosen->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
