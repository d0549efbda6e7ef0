// SPDX-License-Identifier: Apache-2.0
#include "daemon/terminal/shown_alert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/terminal/alert_news.h"
#include "daemon/terminal/state_line.h"
#include "support/fake_terminal.h"

namespace trainwatch::shown_alert_test {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kFiring =
    R"({"id":"d8","state":"firing","rule":"step_spike","severity":"warning",)"
    R"("started_at":"2026-11-21T07:57:49.225594Z","updated_at":"2026-11-21T07:57:49.225594Z",)"
    R"("ended_at":null,"ended_because":null,"subject":{"job":"bert","node":"n","rank":0,)"
    R"("ranks":"0-3"},"incident":"d8","summary":"Step 350 took 3.75 s instead of 89.8 ms.",)"
    R"("cause":{"name":"input_wait","coverage":0.996,"explanation":"It waited 3.65 s."},)"
    R"("evidence":{},"next":"Look at the data loader."})";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

const std::string kResolved =
    replaced(replaced(replaced(kFiring, R"("firing")", R"("resolved")"), R"("ended_at":null)",
                      R"("ended_at":"2026-11-21T08:09:49.225594Z")"),
             R"("ended_because":null)", R"("ended_because":"run_ended")");

class ShownAlertTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  TextStyle plain_{true, false, false, 200};
  Time now_ = time_from_rfc3339("2026-11-21T08:20:00Z");
};

TEST_F(ShownAlertTest, SaysHowSevereSinceWhenWhereWhatWhyAndWhatToDo) {
  EXPECT_EQ(text_of(*shown_alert(kFiring), plain_, now_),
            "WARNING since 07:57 UTC on ranks 0-3 of bert: Step 350 took 3.75 s instead of 89.8 "
            "ms.\n"
            "    Cause: It waited 3.65 s. (input_wait, 100 %)\n"
            "    Next: Look at the data loader.\n");
  EXPECT_EQ(text_of(*shown_alert(kResolved), plain_, now_),
            "OVER at 08:09 UTC on ranks 0-3 of bert: Step 350 took 3.75 s instead of 89.8 ms.\n"
            "    (WARNING since 07:57 UTC, for 12 min; run ended)\n");
  EXPECT_THAT(past_text_of(*shown_alert(kResolved), plain_, now_),
              HasSubstr("    Over after 12 min; run ended.\n"));
}

TEST_F(ShownAlertTest, AnUnknownCauseNamesWhatIsMissing) {
  const std::string json = replaced(
      kFiring, R"({"name":"input_wait","coverage":0.996,"explanation":"It waited 3.65 s."})",
      R"({"name":"unattributed","missing":["gpu samples","cpu samples"]})");
  EXPECT_THAT(text_of(*shown_alert(json), plain_, now_),
              HasSubstr("Cause: not known; missing: gpu samples, cpu samples.\n"));
}

TEST_F(ShownAlertTest, TheEvidenceKnowsSinceWhen) {
  const std::string json =
      replaced(kFiring, R"("evidence":{})", R"("evidence":{"since":"2026-11-21T07:40:00.5Z"})");
  EXPECT_THAT(text_of(*shown_alert(json), plain_, now_), StartsWith("WARNING since 07:40 UTC"));
}

TEST_F(ShownAlertTest, ColourOnlyRepeatsTheWord) {
  FakeTerminal terminal(40);
  const std::string text = text_of(*shown_alert(kFiring), terminal.style(), now_);
  EXPECT_THAT(text, StartsWith("\x1b[33mWARNING\x1b[0m since"));
  terminal.write(text);  // fails if a line is too wide
  EXPECT_EQ(terminal.lines()[0], "WARNING since 07:57 UTC on ranks 0-3 of");
  TextStyle grey = terminal.style();
  grey.colour = false;
  EXPECT_THAT(text_of(*shown_alert(kFiring), grey, now_), Not(HasSubstr("\x1b")));
}

TEST_F(ShownAlertTest, OtherJsonIsNoAlert) {
  for (const char* const text : {"", "nonsense", "{}", "[1]", R"({"id":1,"rule":"x"})"}) {
    EXPECT_FALSE(shown_alert(text)) << text;
  }
}

TEST_F(ShownAlertTest, NewsAreOpeningsEscalationsAndEnds) {
  AlertNews news(Severity::warning);
  ShownAlert alert = *shown_alert(kFiring);
  alert.severity = Severity::info;
  EXPECT_FALSE(news.is_news(alert)) << "below what is asked for";
  alert.severity = Severity::warning;
  EXPECT_TRUE(news.is_news(alert));
  EXPECT_FALSE(news.is_news(alert)) << "its figures changed";
  alert.severity = Severity::critical;
  EXPECT_TRUE(news.is_news(alert));
  alert.severity = Severity::warning;
  EXPECT_FALSE(news.is_news(alert));
  alert.resolved = true;
  alert.ended = alert.since + std::chrono::minutes(5);
  EXPECT_TRUE(news.is_news(alert));
  EXPECT_FALSE(news.is_news(alert));
  ShownAlert brief = *shown_alert(kFiring);
  brief.id = "other";
  EXPECT_TRUE(news.is_news(brief));
  brief.resolved = true;
  brief.ended = brief.since + std::chrono::seconds(1);
  EXPECT_FALSE(news.is_news(brief)) << "it was over when it was first said";
}

TEST_F(ShownAlertTest, NewsAreBounded) {
  AlertNews news(Severity::info);
  ShownAlert alert = *shown_alert(kFiring);
  for (std::size_t i = 0; i <= AlertNews::kMost; ++i) {
    alert.id = std::to_string(i);
    EXPECT_TRUE(news.is_news(alert));
  }
  EXPECT_FALSE(news.is_news(alert));
  alert.id = "0";
  EXPECT_TRUE(news.is_news(alert)) << "forgotten";
}

class StateLineTest : public ShownAlertTest {};

TEST_F(StateLineTest, SaysTheRunThatIsWorstOff) {
  StateLine line;
  EXPECT_EQ(line.text(now_), "No training step has been seen yet.");
  const std::string running =
      R"({"job":"a","state":"running","headline":{"text":"Running: 4.2 steps/s.","since":null}})";
  const std::string slow =
      R"({"job":"b","state":"slow","headline":{"text":"Slow: since {since} ({for}) x.",)"
      R"("since":"2026-11-21T07:42:00.000000Z"}})";
  EXPECT_TRUE(line.on_runs(R"({"monitor":"","runs":[)" + running + "]}").state);
  EXPECT_FALSE(line.on_runs(R"({"monitor":"","runs":[)" + running + "]}").state);
  EXPECT_EQ(line.text(now_), "Running: 4.2 steps/s.");
  EXPECT_TRUE(line.on_runs(R"({"monitor":"","runs":[)" + running + "," + slow + "]}").state);
  EXPECT_EQ(line.text(now_), "b: Slow: since 07:42 UTC (38 min) x. (2 runs)");
  const StateLine::News news = line.on_runs(R"({"monitor":"Blind.","runs":[)" + slow + "]}");
  EXPECT_TRUE(news.monitor);
  EXPECT_EQ(line.monitor(), "Blind.");
  EXPECT_EQ(line.text(now_), "[monitoring impaired] Slow: since 07:42 UTC (38 min) x.");
  EXPECT_FALSE(line.on_runs("nonsense").state);
}

TEST_F(StateLineTest, ShowsTheMeanIterationOfTrainingSteps) {
  StateLine line;
  const auto steps = [](double a, double b) {
    return R"({"op":"step","steps":[{"mode":"train","iteration_seconds":)" + std::to_string(a) +
           R"(},{"mode":"train","iteration_seconds":)" + std::to_string(b) +
           R"(},{"mode":"eval","iteration_seconds":100}]})";
  };
  line.on_steps(steps(0.125, 0.125));
  line.on_steps(steps(0.125, 0.125));
  line.on_steps(steps(0.125, 0.875));
  line.on_steps(R"({"steps":[]})");
  line.on_steps("nonsense");
  EXPECT_EQ(line.text(now_), "▂▂█ No training step has been seen yet.");
}

}  // namespace trainwatch::shown_alert_test
