// System metrics: the outcome is the same however the bytes are cut, and across restarts.
#include <algorithm>
#include <string_view>

#include "fuzz/fuzz_target.h"
#include "unit/decode/decode_harness.h"

namespace trainwatch::fuzz {

void read_system_metrics(std::string_view input) {
  const char* const path = "/job/system/incremental/2026112200/1795236000.algo-1.json";
  const testing::Outcome whole = testing::decode(path, input);
  testing::DecodeRun pieces{path};
  for (std::size_t at = 0, size = 1; at < input.size(); at += size, size = size * 2 % 31 + 1) {
    pieces.feed(input.substr(at, size));
    if (size % 3 == 0) pieces.restart();
  }
  expect(pieces.finish() == whole, "the outcome does not depend on the cuts");
}

}  // namespace trainwatch::fuzz
