// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/self_alerts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/engine/pipeline_report.h"
#include "support/fed_file.h"
#include "support/saved_state.h"

namespace trainwatch::self_alerts_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Time at(int seconds) {
  return Time{std::chrono::seconds(1'795'247'800 + seconds)};
}

SelfCondition lagging() {
  return {"lagging", "s", Severity::warning, 70, "seconds", "source s: unread bytes for 70 s", "-"};
}

TEST(SelfAlerts, OneAlertForAsLongAsItLasts) {
  SelfAlerts alerts;
  const auto begun = alerts.update(at(0), {lagging()});
  ASSERT_THAT(begun, SizeIs(1));
  EXPECT_EQ(begun[0].rule, "_self/lagging");
  EXPECT_EQ(begun[0].state, Alert::State::firing);
  EXPECT_EQ(begun[0].verdict.evidence, R"({"source":"s"})");
  for (int second = 1; second < 100; ++second) {
    EXPECT_THAT(alerts.update(at(second), {lagging()}), IsEmpty());
  }
  EXPECT_THAT(alerts.update(at(150), {}), IsEmpty()) << "it may come back";
  const auto ended = alerts.update(at(160), {});
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].id, begun[0].id);
  EXPECT_EQ(ended[0].state, Alert::State::resolved);
}

TEST(SelfAlerts, TheNextOneComesTenMinutesLaterAtTheEarliest) {
  SelfAlerts alerts;
  std::size_t emitted = 0;
  for (int second = 0; second < 3600; ++second) {
    const bool bad = second % 120 < 10;
    emitted +=
        alerts.update(at(second), bad ? std::vector{lagging()} : std::vector<SelfCondition>{})
            .size();
  }
  EXPECT_EQ(emitted, 12U) << "six begun and six ended in an hour";
}

TEST(SelfAlerts, SurviveARestart) {
  SelfAlerts before;
  before.update(at(0), {lagging()});
  const std::string bytes = test::saved_state(before);
  SelfAlerts after;
  ASSERT_TRUE(test::load_state(bytes, after));
  EXPECT_THAT(after.update(at(10), {lagging()}), IsEmpty());
  EXPECT_THAT(after.update(at(100), {}), SizeIs(1));
}

class SourceHealthTest : public testing::Test {
 protected:
  void feed(const std::string& bytes) {
    file_.append(bytes);
    came_ = true;
  }
  void rename(const std::string& path) {
    known_.path = path;
    ingest_.renamed(known_);
    came_ = true;
  }
  void restart(std::uint64_t lost) {
    ingest_.restarted(FileId{1}, lost);
    file_.restart();
    came_ = true;
  }
  std::vector<std::string> kinds(int second, std::uint64_t unread = 0, std::string error = {}) {
    TailReport report;
    report.files.push_back({FileId{1}, LaneId{0}, "/r/a.jsonl", read_ + unread, read_, error});
    watch_.look(at(second), ingest_, report);
    sparing_.look(at(second), ingest_, report, std::exchange(came_, false));
    EXPECT_EQ(kinds_of(sparing_), kinds_of(watch_)) << "looked at only if something came";
    return kinds_of(watch_);
  }
  static std::vector<std::string> kinds_of(const SourceHealthTracker& watch) {
    std::vector<std::string> kinds;
    for (const SelfCondition& condition : conditions_of(watch)) kinds.emplace_back(condition.kind);
    return kinds;
  }

  SourceHealthTest() {
    known_.file = FileId{1};
    known_.source = "s";
    known_.path = "/r/a.jsonl";
    ingest_.opened(known_, "file:/r/a.jsonl:", {});
  }

  std::uint64_t read_ = 100;
  KnownFile known_;
  Engine engine_{{}};
  Ingest ingest_{engine_, {}};
  test::FedFile file_{ingest_, FileId{1}};
  SourceHealthTracker watch_;
  SourceHealthTracker sparing_;
  bool came_ = true;
};

const std::string kLine =
    R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":5,"NodeId":"n",)"
    R"("Timestamp":1795247800.5})"
    "\n";

TEST_F(SourceHealthTest, AHealthySourceHasNoConditions) {
  feed(kLine);
  EXPECT_THAT(kinds(0), IsEmpty());
  EXPECT_THAT(kinds(1000), IsEmpty());
}

TEST_F(SourceHealthTest, AFileThatEndsInTheMiddleOfARecordIsStuckAfterAWhile) {
  std::string next = kLine;
  next.replace(next.find("800.5"), 5, "801.5");
  feed(kLine + next.substr(0, 20));
  EXPECT_THAT(kinds(0), IsEmpty());
  EXPECT_THAT(kinds(29), IsEmpty());
  EXPECT_THAT(kinds(30), ElementsAre("stuck"));
  feed(next.substr(20));
  EXPECT_THAT(kinds(31), IsEmpty());
  EXPECT_EQ(ingest_.sources().at("s").records, 2U) << "the pieces are joined";
}

// Case 21: a small file in another encoding, of which nothing is ever recognised.
TEST_F(SourceHealthTest, AFileOfWhichNothingIsRecognisedIsStuckAfterAWhile) {
  rename("/r/system/incremental/a.json");
  feed("[\n");
  EXPECT_THAT(kinds(0), IsEmpty());
  EXPECT_THAT(kinds(100), IsEmpty()) << "nothing was written yet";
  feed("\xC0\x7F\xE3\xA8\x97\x85\x7F\x7A\x7F\x83");  // EBCDIC
  EXPECT_THAT(kinds(101), IsEmpty());
  EXPECT_THAT(kinds(131), ElementsAre("stuck"));
  EXPECT_THAT(watch_.sources().at("s").example,
              testing::HasSubstr("/r/system/incremental/a.json begins like none"));
  rename("/r/notes.json");
  EXPECT_THAT(kinds(132), IsEmpty()) << "it need not be one of ours";
}

TEST_F(SourceHealthTest, AFileThatAlwaysHasUnreadBytesIsNotBehind) {
  for (int second = 0; second < 300; ++second) {
    EXPECT_THAT(kinds(second, 10), IsEmpty());
    read_ += 10;
  }
  EXPECT_EQ(watch_.sources().at("s").lag_bytes, 10U);
}

TEST_F(SourceHealthTest, AFileThatIsReadMoreSlowlyThanItGrowsIsBehind) {
  for (int second = 0; second < 60; ++second) {
    EXPECT_THAT(kinds(second, 100), IsEmpty());
    ++read_;
  }
  EXPECT_THAT(kinds(60, 100), ElementsAre("lagging"));
}

TEST_F(SourceHealthTest, UnreadBytesAreLagAfterAMinute) {
  EXPECT_THAT(kinds(0, 10), IsEmpty());
  EXPECT_THAT(kinds(59, 10), IsEmpty());
  EXPECT_THAT(kinds(60, 10), ElementsAre("lagging"));
  EXPECT_THAT(kinds(61), IsEmpty());
}

TEST_F(SourceHealthTest, UnreadableRejectedAndTruncated) {
  EXPECT_THAT(kinds(0, 0, "read /r/a.jsonl: Input/output error"), ElementsAre("unreadable"));
  feed(kLine + "nonsense\n");
  EXPECT_THAT(kinds(1), ElementsAre("rejected"));
  EXPECT_THAT(kinds(500), ElementsAre("rejected"));
  EXPECT_THAT(kinds(602), IsEmpty()) << "ten minutes without another";
  restart(70);
  EXPECT_THAT(kinds(700), ElementsAre("truncated"));
}

TEST(MonitorSentence, SaysTheWorstAndCountsTheRest) {
  const SelfCondition lagging{"lagging", "job",     Severity::warning,
                              75,        "seconds", "source job: unread bytes for 75 seconds",
                              ""};
  const SelfCondition degraded{"state_degraded",
                               "",
                               Severity::critical,
                               1,
                               "",
                               "cannot store state and alerts: disk full",
                               ""};
  const SelfCondition polling{"watch_degraded", "", Severity::info, 1, "", "polling", ""};
  EXPECT_EQ(monitor_sentence({}), "");
  EXPECT_EQ(monitor_sentence({polling}), "");
  EXPECT_EQ(monitor_sentence({polling, lagging}),
            "Monitoring is impaired: source job: unread bytes for 75 seconds.");
  EXPECT_EQ(monitor_sentence({lagging, degraded}),
            "Monitoring is impaired: cannot store state and alerts: disk full; and 1 more.");
}

}  // namespace trainwatch::self_alerts_test
