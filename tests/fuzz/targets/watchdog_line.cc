// SPDX-License-Identifier: Apache-2.0
// Lines of NCCL's watchdog in a console log, and what is concluded from them without dumps.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "fuzz/decode_cuts.h"
#include "pipeline/hang/hang_analysis.h"

namespace trainwatch::fuzz {

void read_watchdog_lines(std::string_view input) {
  expect_same_in_any_cut("/job/attempt_0/3/stderr.log", input);
  WatchdogLines lines;
  std::int32_t rank = 0;
  while (!input.empty()) {
    const std::string_view text = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(text.size() + 1, input.size()));
    watchdog_clock(text);
    auto line = parse_watchdog_line(text);
    if (!line) continue;
    line->rank = line->rank == kNoRank ? rank++ % 4 : line->rank;
    lines[line->rank].push_back(*line);
  }
  for (const std::int32_t suspect : analyze_hang({}, lines).suspects) {
    expect(lines.contains(suspect), "who is named has lines");
  }
}

}  // namespace trainwatch::fuzz
