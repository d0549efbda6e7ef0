// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analysis/analysis_bench.h"

namespace trainwatch {
namespace {

TEST(LongestStep, IsKeptAcrossARestart) {
  AnalysisBench bench("longest_step");
  bench.step(0, 100, 1);
  bench.step(100, 300, 2);
  bench.save_and_load();
  bench.step(400, 200, 3);
  EXPECT_EQ(bench.text(),
            R"({"columns":["nodeID","step","duration_us"],"rows":[["algo-1-0",2,300]]})");
}

}  // namespace
}  // namespace trainwatch
