// SPDX-License-Identifier: Apache-2.0
// What no case can say: ranks that are known by their process only, and a timeline that goes on.
#include <gtest/gtest.h>

#include <vector>

#include "rules/catalog.h"
#include "support/book_output.h"
#include "trainwatch/event.h"

namespace trainwatch {
namespace {

constexpr Time kStart{std::chrono::hours(490'000)};

class StallOfAProcess : public testing::Test {
 protected:
  SubjectId process(std::int64_t number, const std::string& node = "vm") {
    return interner_.subjects.intern({"", node, kNoRank, "", number}).value();
  }
  // Whether it stands still, a day after its only step, which `notes` follow.
  bool stands_still(SubjectId rank, const std::vector<SourceNote::Kind>& notes = {}) {
    const RuleConfig config(*find_rule("stall"));
    const auto rule = config.spec->make(config.params, {interner_, rank});
    test::BookOutput out(config, interner_, *rule);
    Step step;
    step.subject = rank;
    step.start = step.begin = kStart;
    step.duration = std::chrono::seconds(1);
    step.mode = Mode::train;
    step.opens_attempt = true;
    rule->on_step(step, out);
    for (const SourceNote::Kind kind : notes) rule->on_note({step.end(), {}, kind, rank}, out);
    rule->on_end(kStart + std::chrono::hours(24), out);
    return out.open() > 0;
  }

  Interner interner_;
};

TEST_F(StallOfAProcess, TheLatestMayStandStill) {
  const SubjectId first = process(19952);
  const SubjectId second = process(20011);
  EXPECT_FALSE(stands_still(first)) << "it was started again";
  EXPECT_TRUE(stands_still(second));
}

TEST_F(StallOfAProcess, ThoseOfOtherNodesAreNoSuccessors) {
  const SubjectId first = process(19952);
  process(20011, "other");
  EXPECT_TRUE(stands_still(first));
}

TEST_F(StallOfAProcess, AFileThatIsClosedIsAnEndUnlessAnotherFollows) {
  using enum SourceNote::Kind;
  const SubjectId rank = process(19952);
  EXPECT_FALSE(stands_still(rank, {timeline_closed}));
  EXPECT_TRUE(stands_still(rank, {timeline_closed, timeline_goes_on}));
  EXPECT_FALSE(stands_still(rank, {timeline_closed, timeline_goes_on, timeline_closed}));
}

TEST_F(StallOfAProcess, ANamedRankHasNone) {
  const SubjectId rank = interner_.subjects.intern({"", "vm", 0, ""}).value();
  process(20011);
  EXPECT_TRUE(stands_still(rank));
}

}  // namespace
}  // namespace trainwatch
