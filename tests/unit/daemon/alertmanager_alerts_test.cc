// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify/alertmanager_alerts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/notify/backoff.h"
#include "daemon/notify/notification_text.h"
#include "tests/unit/daemon/notified.h"

namespace trainwatch {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

const Time kStart = time_from_rfc3339("2026-01-01T01:00:00.000000Z");

class AlertmanagerAlertsTest : public testing::Test {
 protected:
  // All that is due, delivered.
  std::string sent(Nanos after) {
    std::string all;
    for (const std::string& body : alerts_.due(kStart + after, 64)) all += body + "\n";
    alerts_.delivered(kStart + after);
    return all;
  }
  AlertmanagerAlerts alerts_{"https://watch.example", 1min};
};

TEST_F(AlertmanagerAlertsTest, SendsAnAlertAsTheApiWantsIt) {
  alerts_.fires(notified({}), Severity::warning, kStart);
  EXPECT_EQ(
      sent(0s),
      R"([{"labels":{"alertname":"TrainwatchStepSpike","severity":"warning","rule":"step_spike",)"
      R"("train_job":"bert","node":"algo-1","rank":"3"},"annotations":{"summary":"slow",)"
      R"("description":"Cause: It waited. (input_wait, 90 %) Add workers.",)"
      R"("runbook_url":"https://watch.example/docs/rules/step_spike","evidence":"{\"n\":3}",)"
      R"("alert_id":"a1"},"startsAt":"2026-01-01T00:00:00.000000Z","endsAt":"2026-01-01T01:04:00.000000Z",)"
      R"("generatorURL":"https://watch.example/"}])"
      "\n");
}

TEST_F(AlertmanagerAlertsTest, SendsFiringOnesEveryMinute) {
  alerts_.fires(notified({}), Severity::warning, kStart);
  EXPECT_THAT(sent(0s), HasSubstr("01:04:00.000000Z"));
  EXPECT_EQ(sent(59s), "");
  alerts_.update(notified({.seq = 2, .summary = "slower"}));
  EXPECT_THAT(sent(60s), AllOf(HasSubstr("slower"), HasSubstr("01:05:00.000000Z")));
}

TEST_F(AlertmanagerAlertsTest, SendsResolvedOnesForAQuarterOfAnHour) {
  alerts_.fires(notified({}), Severity::warning, kStart);
  sent(0s);
  alerts_.ends(notified({.seq = 2, .firing = false}), Severity::warning, kStart + 10s);
  int times = 0;
  for (Nanos after = 10s; after < 1h; after += 1s) {
    const std::string body = sent(after);
    if (body.empty()) continue;
    ++times;
    EXPECT_THAT(body, HasSubstr(R"("endsAt":"2026-01-01T01:00:10.000000Z")"));
  }
  EXPECT_EQ(times, 16);
}

TEST_F(AlertmanagerAlertsTest, WhatEndedIsKeptUntilItWasDelivered) {
  alerts_.fires(notified({}), Severity::warning, kStart);
  alerts_.ends(notified({.seq = 2, .firing = false}), Severity::warning, kStart);
  EXPECT_FALSE(alerts_.due(kStart + 3h, 64).empty());
  EXPECT_FALSE(alerts_.due(kStart + 4h, 64).empty());
  alerts_.delivered(kStart + 4h);
  EXPECT_TRUE(alerts_.due(kStart + 5h, 64).empty());
}

TEST_F(AlertmanagerAlertsTest, AlertsWithTheSameLabelsAreOne) {
  alerts_.fires(notified({}), Severity::warning, kStart);
  alerts_.fires(notified({.id = "a2", .seq = 2}), Severity::warning, kStart);
  EXPECT_THAT(sent(0s), AllOf(HasSubstr(R"("alerts":"2")"), Not(HasSubstr("},{"))));
  alerts_.ends(notified({.seq = 3, .firing = false}), Severity::warning, kStart + 70s);
  EXPECT_THAT(sent(70s), AllOf(HasSubstr("01:05:10.000000Z"), HasSubstr("a2")));  // still fires
  alerts_.ends(notified({.id = "a2", .seq = 4, .firing = false}), Severity::warning, kStart + 80s);
  EXPECT_THAT(sent(80s), HasSubstr(R"("endsAt":"2026-01-01T01:01:20.000000Z")"));
}

TEST_F(AlertmanagerAlertsTest, ARisingSeverityEndsTheOldLabels) {
  alerts_.fires(notified({}), Severity::warning, kStart);
  sent(0s);
  alerts_.fires(notified({.seq = 2, .severity = Severity::critical}), Severity::critical,
                kStart + 5s);
  const std::string body = sent(5s);
  EXPECT_THAT(body, HasSubstr(R"("severity":"critical")"));
  EXPECT_THAT(body, HasSubstr(R"("severity":"warning")"));
  EXPECT_THAT(body, HasSubstr(R"("endsAt":"2026-01-01T01:00:05.000000Z")"));
  EXPECT_THAT(body, HasSubstr(R"("endsAt":"2026-01-01T01:04:05.000000Z")"));
}

TEST_F(AlertmanagerAlertsTest, EndsAnAlertOfBeforeARestart) {
  alerts_.ends(notified({.seq = 2, .firing = false}), Severity::warning, kStart);
  EXPECT_THAT(sent(0s), HasSubstr(R"("endsAt":"2026-01-01T01:00:00.000000Z")"));
  EXPECT_EQ(alerts_.firing(), 0U);
}

TEST_F(AlertmanagerAlertsTest, StartsNeverInTheFuture) {
  alerts_.fires(notified({}), Severity::warning, kStart);
  const auto bodies = alerts_.due(time_from_rfc3339("2025-01-01T00:00:00.000000Z"), 64);
  ASSERT_EQ(bodies.size(), 1U);
  EXPECT_THAT(bodies[0], HasSubstr(R"("startsAt":"2025-01-01T00:00:00.000000Z")"));
}

TEST_F(AlertmanagerAlertsTest, SplitsLargeBatches) {
  for (int i = 0; i < 150; ++i) {
    alerts_.fires(notified({.id = "a" + std::to_string(i),
                            .subject = R"({"rank":)" + std::to_string(i) + "}"}),
                  Severity::warning, kStart);
  }
  EXPECT_EQ(alerts_.due(kStart, 64).size(), 3U);
}

TEST(AlertmanagerName, IsTheRuleInCamelCase) {
  EXPECT_EQ(alertmanager_name("step_spike"), "TrainwatchStepSpike");
  EXPECT_EQ(alertmanager_name("_self/state_degraded"), "TrainwatchSelfStateDegraded");
}

TEST(NotificationText, WebhookBodyHasTheAlertItself) {
  const Notification fires{notified({}), false, Severity::warning, false};
  EXPECT_EQ(webhook_body(fires, "oncall", "http://h:1"),
            R"({"version":"1","receiver":"oncall","status":"firing","externalURL":"http://h:1",)"
            R"("alerts":[)" +
                fires.alert->published->json + "]}");
}

TEST(NotificationText, SlackBodyEscapesMarkup) {
  const Notification fires{notified({.summary = "a <b> & c"}), false, Severity::critical, false};
  const std::string body = slack_body(fires, "http://h:1");
  EXPECT_THAT(body, HasSubstr("a &lt;b&gt; &amp; c"));
  EXPECT_THAT(body, HasSubstr(R"("text":"[CRITICAL] step_spike on rank 3 of bert")"));
  EXPECT_THAT(body, HasSubstr(R"("color":"danger")"));
  const Notification ends{notified({.firing = false}), true, Severity::critical, false};
  EXPECT_THAT(slack_body(ends, "http://h:1"), AllOf(HasSubstr("[RESOLVED]"), HasSubstr("good")));
}

TEST(NotificationText, IsCutBetweenCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcdefgh", 6), "abc…");
  EXPECT_EQ(shortened("aäöü", 6), "aä…");
}

TEST(BackoffTest, DoublesUpToAMinuteAndHeedsTheServer) {
  Backoff backoff(1);
  auto longest = 0ms;
  for (int i = 0; i < 20; ++i) {
    const auto wait = backoff.failed({});
    EXPECT_LE(wait, Backoff::kLast);
    if (i == 0) {
      EXPECT_LE(wait, Backoff::kFirst);
    }
    longest = std::max(longest, wait);
  }
  EXPECT_GE(longest, Backoff::kLast / 2);
  EXPECT_EQ(backoff.failed(100s), 100s);
  backoff.succeeded();
  EXPECT_LE(backoff.failed({}), Backoff::kFirst);
}

}  // namespace
}  // namespace trainwatch
