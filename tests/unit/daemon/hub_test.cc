// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/net/alert_hub.h"
#include "daemon/net/stream_protocol.h"
#include "tests/unit/daemon/net_fixture.h"

namespace trainwatch::hub_test {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::uint64_t> window(const AlertHub& hub, const AlertFilter& filter = {}) {
  std::vector<std::uint64_t> out;
  std::uint64_t cursor = 0;
  while (const auto alert = hub.next(cursor, filter)) out.push_back(alert->seq);
  return out;
}

TEST(AlertHub, StartsWithWhatTheStoreHas) {
  const AlertHub hub("e", 12, 41);
  EXPECT_EQ(hub.first_seq(), 12U);
  EXPECT_EQ(hub.last_seq(), 41U);
  EXPECT_EQ(hub.window_first_seq(), 42U);
  EXPECT_TRUE(hub.covers(41));
  EXPECT_FALSE(hub.covers(40));
  EXPECT_THAT(window(hub), IsEmpty());
}

// A number of a client may be any; the largest must not wrap to 0.
TEST(AlertHub, CoversWhatIsAheadOfIt) {
  const AlertHub hub("e", 12, 41);
  for (const std::uint64_t seq : {std::uint64_t{42}, ~std::uint64_t{0} - 1, ~std::uint64_t{0}}) {
    EXPECT_TRUE(hub.covers(seq)) << seq;
    EXPECT_EQ(hub.bytes_after(seq), 0U) << seq;
  }
}

TEST(AlertHub, KeepsTheNewestByNumberAndByBytes) {
  AlertHub hub("e", 1, 0, {.alerts = 3});
  hub.publish(make_alerts(1, 5));
  EXPECT_EQ(hub.first_seq(), 1U);
  EXPECT_EQ(hub.window_first_seq(), 3U);
  EXPECT_EQ(hub.last_seq(), 5U);
  EXPECT_THAT(window(hub), ElementsAre(3, 4, 5));
  AlertHub small("e", 1, 0, {.bytes = 2 * make_alert(1)->json.size()});
  small.publish(make_alerts(1, 5));
  EXPECT_THAT(window(small), ElementsAre(4, 5));
  AlertHub tiny("e", 1, 0, {.bytes = 1});
  tiny.publish(make_alerts(1, 5));
  EXPECT_THAT(window(tiny), IsEmpty());
  EXPECT_EQ(tiny.window_first_seq(), 6U);
}

TEST(AlertHub, KeepsFewThatAreOld) {
  AlertHub hub("e", 1, 0, {.alerts = 5, .age = std::chrono::seconds(60), .of_any_age = 2});
  const AlertHub::Clock::time_point began{};
  hub.publish(make_alerts(1, 4), began);
  hub.publish(make_alerts(5, 5), began + std::chrono::seconds(60));
  EXPECT_THAT(window(hub), ElementsAre(1, 2, 3, 4, 5));
  hub.publish(make_alerts(6, 6), began + std::chrono::seconds(61));
  EXPECT_THAT(window(hub), ElementsAre(5, 6));
  hub.publish(make_alerts(7, 7), began + std::chrono::hours(1));
  EXPECT_THAT(window(hub), ElementsAre(6, 7));
  EXPECT_EQ(hub.first_seq(), 1U);
}

// 100,000 alerts of 1 KB are 100 MB; what is alive afterwards is what the window holds.
TEST(AlertHub, AHundredThousandAlertsDoNotStayInMemory) {
  AlertHub hub("e");
  std::vector<std::weak_ptr<const PublishedAlert>> all;
  for (std::uint64_t seq = 1; seq <= 100'000; ++seq) {
    const auto alert = make_alert(seq, "step_spike", Severity::warning, Alert::State::firing, 1000);
    all.emplace_back(alert);
    hub.publish({alert});
  }
  const auto alive =
      std::count_if(all.begin(), all.end(), [](const auto& each) { return !each.expired(); });
  EXPECT_EQ(alive, 1024);
  EXPECT_LT(hub.bytes_after(0), 8U << 20U);
}

TEST(AlertHub, WhatTheStoreDropsIsDropped) {
  AlertHub hub("e");
  hub.publish(make_alerts(1, 5));
  hub.pruned(4);
  hub.pruned(2);
  EXPECT_EQ(hub.first_seq(), 4U);
  EXPECT_THAT(window(hub), ElementsAre(4, 5));
  hub.pruned(100);
  EXPECT_EQ(hub.first_seq(), 6U);
  EXPECT_EQ(hub.window_first_seq(), 6U);
}

TEST(AlertHub, CountsTheBytesBehindAPlace) {
  AlertHub hub("e", 1, 0, {.alerts = 2});
  hub.publish(make_alerts(1, 3));
  const auto size = make_alert(1)->json.size();
  EXPECT_EQ(hub.bytes_after(3), 0U);
  EXPECT_EQ(hub.bytes_after(2), size);
  EXPECT_EQ(hub.bytes_after(0), 2 * size);
}

TEST(AlertHub, Filters) {
  AlertHub hub("e");
  hub.publish({make_alert(1, "a", Severity::info), make_alert(2, "b", Severity::critical),
               make_alert(3, "a", Severity::warning, Alert::State::resolved)});
  EXPECT_THAT(window(hub, {{"a"}, {}, Severity::info}), ElementsAre(1, 3));
  EXPECT_THAT(window(hub, {{}, {}, Severity::warning}), ElementsAre(2, 3));
  EXPECT_THAT(window(hub, {{}, Alert::State::firing, Severity::info}), ElementsAre(1, 2));
}

TEST(AlertHub, NotifiesListenersUntilTheyAreGone) {
  AlertHub hub("e");
  int calls = 0;
  std::size_t provisional = 0;
  {
    const auto registration = hub.listen(
        {[&calls] { ++calls; }, [&](const auto& alerts) { provisional += alerts.size(); }});
    hub.publish(make_alerts(1, 2));
    hub.publish({});
    hub.publish_provisional({make_provisional("p")});
  }
  hub.publish(make_alerts(3, 3));
  hub.publish_provisional({make_provisional("q")});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(provisional, 1U);
  EXPECT_EQ(hub.last_seq(), 3U);
}

TEST(StreamProtocol, ReadsClientMessages) {
  const auto message = parse_client_message(
      R"({"op":"subscribe","streams":["alerts","steps","status"],"after":7,"epoch":"e",)"
      R"("rules":["a","b"],"min_severity":"critical","later":{}})");
  const auto* subscription = std::get_if<Subscription>(&message);
  ASSERT_NE(subscription, nullptr);
  EXPECT_TRUE(subscription->alerts && subscription->steps && subscription->status);
  EXPECT_EQ(subscription->after, 7U);
  EXPECT_EQ(subscription->epoch, "e");
  EXPECT_THAT(subscription->filter.rules, ElementsAre("a", "b"));
  EXPECT_EQ(subscription->filter.min_severity, Severity::critical);
  EXPECT_EQ(std::get<Ack>(parse_client_message(R"({"op":"ack","seq":9})")).seq, 9U);
}

TEST(StreamProtocol, RefusesWhatItDoesNotUnderstand) {
  for (const char* text :
       {"[]", "{}", R"({"op":1})", R"({"op":"dance"})", R"({"op":"ack"})",
        R"({"op":"subscribe","after":-1})", R"({"op":"subscribe","after":"1"})",
        R"({"op":"subscribe","streams":["alarms"]})", R"({"op":"subscribe","streams":"alerts"})",
        R"({"op":"subscribe","name":"a b"})", R"({"op":"subscribe","name":""})",
        R"({"op":"subscribe","name":7})", R"({"op":"resume","from_seq":1})",
        R"({"op":"subscribe","min_severity":"bad"})", R"({"op":"subscribe","rules":[1]})"}) {
    EXPECT_TRUE(std::holds_alternative<Refusal>(parse_client_message(text))) << text;
  }
  const auto unknown = parse_client_message(R"({"op":"subscribe","streams":["alerts","alarms"]})");
  EXPECT_EQ(std::get<Refusal>(unknown).message,
            "subscribe: streams is a list of alerts, steps, status and tensors; there is no other "
            "stream");
  for (const char* text : {"", "{", "nonsense", "{\"op\":\"\xff\"}"}) {
    EXPECT_TRUE(std::holds_alternative<NotJson>(parse_client_message(text))) << text;
  }
}

TEST(StreamProtocol, ReadsTheQuery) {
  const auto subscription =
      subscription_from_query("after=3&rules=a,b&min_severity=info&streams=status&name=pager-1");
  ASSERT_TRUE(subscription);
  EXPECT_EQ(subscription->after, 3U);
  EXPECT_EQ(subscription->name, "pager-1");
  EXPECT_FALSE(subscription->alerts || subscription->steps);
  EXPECT_THAT(subscription->filter.rules, ElementsAre("a", "b"));
  for (const char* query : {"after=", "after=-1", "after=1x", "min_severity=loud", "streams=x",
                            "from=1", "name=", "name=a%20b", "after=%zz", "epoch=%00"}) {
    EXPECT_FALSE(subscription_from_query(query)) << query;
  }
  EXPECT_EQ(subscription_from_query("streams=alerts,alarms").error().message,
            "streams is a list of alerts, steps, status and tensors; there is no other stream");
}

}  // namespace trainwatch::hub_test
