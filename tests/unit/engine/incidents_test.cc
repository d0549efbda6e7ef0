// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/incidents.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>

#include "tests/support/saved_state.h"
#include "trainwatch/rank_ranges.h"

namespace trainwatch::incidents_test {

using testing::ElementsAre;

class IncidentsTest : public testing::Test {
 protected:
  IncidentsTest() {
    wait_.id = "wait";
    wait_.incident = {.specificity = 70, .of_one_cause = true};
    spike_.id = "spike";
    spike_.incident = {.specificity = 50,
                       .slack = std::chrono::seconds(1),
                       .of_one_step = true,
                       .of_one_cause = true};
    gpu_.id = "gpu";
    gpu_.incident = {.specificity = 20};
    other_.id = "other";
  }

  // Opens an alert and remembers who speaks for whom.
  Alert open(const RuleSpec& rule, const std::string& id, std::int32_t rank, std::int64_t second,
             CauseName cause = CauseName::input_wait, Severity severity = Severity::warning) {
    return open_at_step(rule, id, rank, second, second, cause, severity);
  }
  Alert open_at_step(const RuleSpec& rule, const std::string& id, std::int32_t rank,
                     std::int64_t second, std::int64_t step,
                     CauseName cause = CauseName::input_wait,
                     Severity severity = Severity::warning) {
    Alert alert;
    alert.id = id;
    alert.rule = rule.id;
    alert.subject.rank = rank;
    alert.started_at = alert.updated_at = Time{std::chrono::seconds(second)};
    alert.severity = severity;
    alert.verdict.own_cause = cause;
    alert.verdict.step = step;
    update(alert, rule);
    return alert;
  }
  void update(const Alert& alert, const RuleSpec& rule) {
    for (const auto& change : incidents_.update(alert, rule)) {
      ++changes_;
      speaker_[change.id] = change.incident;
      ranks_[change.id] = change.ranks;
    }
  }

  RuleSpec wait_;
  RuleSpec spike_;
  RuleSpec gpu_;
  RuleSpec other_;
  Incidents incidents_;
  std::map<std::string, std::string> speaker_;
  std::map<std::string, std::string> ranks_;
  std::size_t changes_ = 0;
};

TEST_F(IncidentsTest, TheSameOnAllRanksIsOneAndNamesThem) {
  for (std::int32_t rank = 0; rank < 4; ++rank) open(wait_, "w" + std::to_string(rank), rank, 100);
  for (const auto& [id, speaker] : speaker_) EXPECT_EQ(speaker, "w0") << id;
  EXPECT_EQ(ranks_["w0"], "0-3");
  EXPECT_EQ(ranks_["w1"], "");
}

// The alert about the first slow steps ends; the one about their rhythm continues.
TEST_F(IncidentsTest, APartThatOutlivesItsSpeakerIsHeard) {
  Alert first = open(wait_, "first", 0, 100);
  Alert same = open(gpu_, "same", 0, 101);
  Alert lasting = open(spike_, "lasting", 0, 102, CauseName::input_wait, Severity::info);
  same.incident = lasting.incident = speaker_["lasting"];
  ASSERT_EQ(lasting.incident, "first");
  for (Alert* const ending : {&first, &same}) {
    ending->ended_at = Time{std::chrono::seconds(110)};
    incidents_.ended(*ending);
  }
  lasting.updated_at = Time{std::chrono::seconds(120)};
  EXPECT_FALSE(incidents_.outlived(lasting)) << "it may be about to end, too";
  lasting.updated_at = Time{std::chrono::seconds(141)};
  ASSERT_TRUE(incidents_.outlived(lasting));
  update(lasting, spike_);
  EXPECT_EQ(speaker_["lasting"], "lasting");
  EXPECT_EQ(speaker_["same"], "first") << "what is over stays as it was";
}

TEST_F(IncidentsTest, TheMostSpecificSpeaksWhateverCameFirst) {
  open(gpu_, "g", kNoRank, 90, CauseName::unattributed);
  EXPECT_EQ(speaker_["g"], "g");
  open(wait_, "w", 0, 100);
  EXPECT_EQ(speaker_["g"], "w");
  open(spike_, "s", 0, 101, CauseName::input_wait, Severity::critical);
  EXPECT_EQ(speaker_["w"], "s") << "severity comes first";
}

TEST_F(IncidentsTest, AnotherCauseOrAnotherTimeIsAnotherIncident) {
  open(wait_, "w", 0, 100);
  open(spike_, "pause", 0, 101, CauseName::host_pause);
  open(gpu_, "later", kNoRank, 500, CauseName::unattributed);
  open(other_, "unrelated", 0, 100);
  for (const auto& [id, speaker] : speaker_) EXPECT_EQ(speaker, id);
}

TEST_F(IncidentsTest, SlowStepsOfOneRankAreApartAndThoseOfOneStepTogether) {
  open(spike_, "s0", 0, 100);
  open(spike_, "s1", 1, 101);
  open(spike_, "t0", 0, 104);
  EXPECT_EQ(speaker_["s1"], "s0");
  EXPECT_EQ(speaker_["t0"], "t0");
}

TEST_F(IncidentsTest, StepsOfSeveralRanksAreComparedWhateverTheirTimes) {
  open_at_step(spike_, "a", 0, 100, 7);
  open_at_step(spike_, "b", 1, 90'000, 8);
  open_at_step(spike_, "c", 2, 180'000, 10);
  open_at_step(spike_, "last", 3, 270'000, std::numeric_limits<std::int64_t>::max());
  open_at_step(spike_, "first", 4, 360'000, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(speaker_["b"], "a");
  EXPECT_EQ(speaker_["c"], "c");
  EXPECT_EQ(speaker_["last"], "last");
}

TEST_F(IncidentsTest, DoesNotDependOnTheOrderOfReading) {
  open(wait_, "w1", 1, 130);
  open(wait_, "w0", 0, 100);
  open(gpu_, "g", kNoRank, 160, CauseName::unattributed);
  const auto first = speaker_;
  speaker_.clear();
  incidents_ = Incidents{};
  open(gpu_, "g", kNoRank, 160, CauseName::unattributed);
  open(wait_, "w0", 0, 100);
  open(wait_, "w1", 1, 130);
  EXPECT_EQ(speaker_, first);
  EXPECT_EQ(speaker_["g"], "w0");
}

// However alerts join, incidents become one, and another one speaks: the ranks are those of the
// alerts of the speaker's rule.
TEST_F(IncidentsTest, TheSpeakerNamesTheRanksOfItsRule) {
  std::mt19937 random(7);
  const auto below = [&random](int end) {
    return std::uniform_int_distribution<int>(0, end - 1)(random);
  };
  struct Opened {
    const RuleSpec* rule;
    std::int32_t rank;
    std::int64_t second;
  };
  for (int round = 0; round < 50; ++round) {
    incidents_ = Incidents{};
    speaker_.clear();
    ranks_.clear();
    std::map<std::string, Opened> opened;
    for (int i = 0; i < 60; ++i) {
      const RuleSpec* const rules[] = {&wait_, &wait_, &spike_, &gpu_, &other_};
      const Opened now{rules[below(5)], below(8) == 0 ? kNoRank : below(20), 100 + below(6)};
      const std::string id = std::to_string(below(50));  // sometimes one that is known
      const auto severity = below(10) == 0 ? Severity::critical : Severity::warning;
      const Opened& alert = opened.try_emplace(id, now).first->second;
      open(*alert.rule, id, alert.rank, alert.second, CauseName::input_wait, severity);
      std::map<std::string, std::set<std::int32_t>> ranks;
      for (const auto& [one, about] : opened) {
        const std::string& speaker = speaker_[one];
        ASSERT_EQ(speaker_[speaker], speaker);
        const bool same = about.rule == opened.at(speaker).rule;
        if (same && about.rank != kNoRank) ranks[speaker].insert(about.rank);
      }
      for (const auto& [one, about] : opened) {
        ASSERT_EQ(ranks_[one], ranks[one].size() < 2 ? "" : rank_ranges(ranks[one])) << one;
      }
    }
  }
}

// More than are remembered: the first one still speaks for them, and names them all.
TEST_F(IncidentsTest, AJobOfThousandsOfRanks) {
  constexpr std::int32_t kRanks = 4 * Incidents::kMost;
  for (std::int32_t rank = 0; rank < kRanks; ++rank) open(wait_, std::to_string(rank), rank, 100);
  for (const auto& [id, speaker] : speaker_) EXPECT_EQ(speaker, "0") << id;
  const std::string all = "0-" + std::to_string(kRanks - 1);
  EXPECT_EQ(ranks_["0"], all);
  EXPECT_LE(changes_, 2 * kRanks) << "each once, and the one that speaks for it";

  Incidents loaded;
  ASSERT_TRUE(loaded.load(test::put_rows(incidents_)));
  incidents_ = std::move(loaded);
  open(wait_, std::to_string(kRanks), kRanks, 100, CauseName::input_wait, Severity::critical);
  EXPECT_EQ(ranks_[std::to_string(kRanks)], "0-" + std::to_string(kRanks)) << "it speaks now";
}

TEST_F(IncidentsTest, ForgottenAlertsAreForgottenInTheStateToo) {
  StateRows saved;
  for (std::int32_t i = 0; i < 2000; ++i) {
    open(other_, std::to_string(i), 0, 100 + 10 * i);
    incidents_.save(saved, false);
  }
  const auto stored = std::ranges::count_if(saved.changed(),
                                            [](const auto& row) { return row.second.has_value(); });
  EXPECT_EQ(stored, Incidents::kMost);
}

}  // namespace trainwatch::incidents_test
