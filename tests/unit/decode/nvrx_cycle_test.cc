// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's resiliency extension says of a cycle.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "decode_harness.h"
#include "run_note_reading.h"
#include "samples.h"

namespace trainwatch::testing::nvrx_cycle_test {

using Lines = std::vector<std::string>;

constexpr const char* kPath = "/w/nvrx/cycle_info.17.0.3";

TEST(NvrxCycle, BeginsAndEndsAnAttempt) {
  EXPECT_EQ(notes_of(kNvrxCycle, {}, kPath),
            (Lines{"launched 22:13:20", "unknown/consequence 22:15:20"}));
  const Outcome outcome = decode(kPath, kNvrxCycle);
  EXPECT_EQ(outcome.format, "nvrx_cycle");
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(outcome.events,
            (Lines{"scalar 1700000000500000000 timed nvrx/cycle=3.000000 step=-1 of 1 job//-1/ "
                   "kind=other"}));
}

TEST(NvrxCycle, HasNotEndedYet) {
  const std::string running =
      R"({"job_id": "17", "cycle_number": 0, "cycle_start_time": "2023-11-14T22:13:20+00:00", "cycle_end_time": ""})";
  EXPECT_EQ(notes_of(running, {}, kPath), Lines{"launched 22:13:20"});
}

TEST(NvrxCycle, WithoutATimeOrAnEnd) {
  EXPECT_EQ(decode(kPath, R"({"cycle_number": 3, "cycle_start_time": "soon"})").rejects,
            Lines{"time"});
  EXPECT_EQ(decode(kPath, R"({"cycle_number": 3, "cycle_start_time": )").rejects, Lines{"syntax"});
  EXPECT_EQ(
      decode(kPath, R"({"cycle_number": 3, "x": ")" + std::string(20'000, 'x') + "\"}").rejects,
      Lines{"too_long"});
}

}  // namespace trainwatch::testing::nvrx_cycle_test
