// SPDX-License-Identifier: Apache-2.0
// Flight Recorder dumps, pickled or JSON, and what is concluded from them: the outcome is the same
// however the bytes are cut, and only ranks of a group are named.
#include <cstdint>
#include <map>
#include <string_view>

#include "fuzz/decode_cuts.h"
#include "pipeline/hang/hang_analysis.h"

namespace trainwatch::fuzz {

void read_flight_recorder(std::string_view input) {
  expect_same_in_any_cut("/job/comm_traces/rank_3", input);
  std::map<std::int32_t, RankDump> dumps;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    FlightDumpResult read = read_flight_dump(input);
    if (read.end != FlightDumpResult::End::whole) return;
    read.dump.rank = rank;
    dumps[rank] = read.dump;
  }
  const HangFinding found = analyze_hang(dumps);
  for (const std::int32_t rank : found.suspects) {
    expect(found.dumped.contains(rank) || found.missing.contains(rank),
           "who is named has a dump, or is known to have none");
  }
}

}  // namespace trainwatch::fuzz
