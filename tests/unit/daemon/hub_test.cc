#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/net/alert_hub.h"
#include "daemon/net/stream_feed.h"
#include "tests/unit/daemon/net_fixture.h"

namespace trainwatch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::uint64_t> seqs(const std::vector<PublishedAlertPtr>& alerts) {
  std::vector<std::uint64_t> out;
  for (const auto& alert : alerts) out.push_back(alert->seq);
  return out;
}

// What a feed says until it has nothing more to say, without the hello.
std::vector<std::string> drain(StreamFeed& feed) {
  std::vector<std::string> out;
  while (auto frame = feed.next()) {
    auto text = frame->text();
    if (text.find(R"("op":"hello")") != std::string::npos) continue;
    if (text.starts_with(R"({"op":"alert","id":"id)")) {
      text = text.substr(22, text.find('"', 22) - 22);
    }
    out.push_back(text);
  }
  return out;
}

TEST(AlertHub, StartsEmptyAfterTheLastSequenceNumber) {
  const AlertHub hub("e", 41);
  EXPECT_EQ(hub.first_seq(), 42U);
  EXPECT_EQ(hub.last_seq(), 41U);
  EXPECT_THAT(hub.after(0, 10), IsEmpty());
}

TEST(AlertHub, KeepsTheNewest) {
  AlertHub hub("e", 0, 3);
  hub.publish(make_alerts(1, 5));
  EXPECT_EQ(hub.first_seq(), 3U);
  EXPECT_EQ(hub.last_seq(), 5U);
  EXPECT_THAT(seqs(hub.after(0, 10)), ElementsAre(3, 4, 5));
  EXPECT_THAT(seqs(hub.after(4, 10)), ElementsAre(5));
  EXPECT_THAT(seqs(hub.after(0, 2)), ElementsAre(3, 4));
}

TEST(AlertHub, CountsTheBytesBehindAPlace) {
  AlertHub hub("e", 0, 2);
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
  EXPECT_THAT(seqs(hub.after(0, 10, {{"a"}, {}, Severity::info})), ElementsAre(1, 3));
  EXPECT_THAT(seqs(hub.after(0, 10, {{}, {}, Severity::warning})), ElementsAre(2, 3));
  EXPECT_THAT(seqs(hub.after(0, 10, {{}, Alert::State::firing, Severity::info})),
              ElementsAre(1, 2));
}

TEST(AlertHub, TellsListenersUntilTheyAreGone) {
  AlertHub hub("e");
  int calls = 0;
  {
    const auto subscription = hub.on_publish([&calls] { ++calls; });
    hub.publish(make_alerts(1, 2));
    hub.publish({});
  }
  hub.publish(make_alerts(3, 3));
  EXPECT_EQ(calls, 1);
}

TEST(StreamFeed, WithoutAPlaceOnlyWhatIsNew) {
  AlertHub hub("e");
  hub.publish(make_alerts(1, 3));
  StreamFeed feed(hub, {});
  EXPECT_EQ(feed.next()->text(), R"({"op":"hello","epoch":"e","first_seq":1,"last_seq":3})");
  EXPECT_THAT(drain(feed), IsEmpty());
  hub.publish(make_alerts(4, 5));
  EXPECT_THAT(drain(feed), ElementsAre("4", "5"));
}

TEST(StreamFeed, ResumesAfterAPlace) {
  AlertHub hub("e");
  hub.publish(make_alerts(1, 4));
  StreamFeed feed(hub, {.after = 2, .epoch = "e"});
  EXPECT_FALSE(feed.was_live());
  EXPECT_THAT(drain(feed), ElementsAre("3", "4"));
  EXPECT_TRUE(feed.was_live());
}

TEST(StreamFeed, SaysWhatIsNoLongerThere) {
  AlertHub hub("e", 0, 2);
  hub.publish(make_alerts(1, 5));
  StreamFeed feed(hub, {.after = 1});
  EXPECT_THAT(drain(feed), ElementsAre(R"({"op":"gap","from":2,"to":3})", "4", "5"));
}

TEST(StreamFeed, SaysWhenTheWindowOvertakesASlowClient) {
  AlertHub hub("e", 0, 2);
  hub.publish(make_alerts(1, 2));
  StreamFeed feed(hub, {.after = 0});
  EXPECT_EQ(feed.next()->text().substr(0, 13), R"({"op":"hello")");
  ASSERT_TRUE(feed.next());  // alert 1
  hub.publish(make_alerts(3, 6));
  EXPECT_THAT(drain(feed), ElementsAre(R"({"op":"gap","from":2,"to":4})", "5", "6"));
}

TEST(StreamFeed, NoGapWhenTheOldestIsTheNext) {
  AlertHub hub("e", 0, 2);
  hub.publish(make_alerts(1, 5));
  StreamFeed feed(hub, {.after = 3});
  EXPECT_THAT(drain(feed), ElementsAre("4", "5"));
}

TEST(StreamFeed, ResetsForAnotherEpochAndForTheFuture) {
  AlertHub hub("new");
  hub.publish(make_alerts(1, 2));
  StreamFeed other(hub, {.after = 1, .epoch = "old"});
  EXPECT_THAT(drain(other), ElementsAre(R"({"op":"reset","epoch":"new"})", "1", "2"));
  StreamFeed future(hub, {.after = 7});
  EXPECT_THAT(drain(future), ElementsAre(R"({"op":"reset","epoch":"new"})", "1", "2"));
}

TEST(StreamFeed, ALaterSubscriptionKeepsThePlaceUnlessItNamesOne) {
  AlertHub hub("e");
  StreamFeed feed(hub, {});
  hub.publish({make_alert(1, "a"), make_alert(2, "b"), make_alert(3, "a")});
  Wishes wishes;
  wishes.filter.rules = {"a"};
  feed.subscribe(wishes);
  EXPECT_THAT(drain(feed), ElementsAre("1", "3"));
  feed.subscribe({.after = 1});
  EXPECT_THAT(drain(feed), ElementsAre("2", "3"));
}

TEST(StreamFeed, StatusComesAfterAlertsAndTheLatestWins) {
  AlertHub hub("e");
  StreamFeed feed(hub, {.status = true});
  for (const char* status : {R"({"n":1})", R"({"n":2})"}) {
    Snapshot snapshot;
    snapshot.status_json = status;
    feed.offer_status(std::make_shared<const Snapshot>(snapshot));
  }
  hub.publish(make_alerts(1, 1));
  EXPECT_THAT(drain(feed), ElementsAre("1", R"({"op":"status","n":2})"));
}

TEST(StreamProtocol, ReadsClientMessages) {
  const auto message = parse_client_message(
      R"({"op":"subscribe","streams":["alerts","steps","status"],"after":7,"epoch":"e",)"
      R"("rules":["a","b"],"min_severity":"critical","later":{}})");
  const auto* wishes = std::get_if<Wishes>(&message);
  ASSERT_NE(wishes, nullptr);
  EXPECT_TRUE(wishes->alerts && wishes->status);
  EXPECT_EQ(wishes->after, 7U);
  EXPECT_EQ(wishes->epoch, "e");
  EXPECT_THAT(wishes->filter.rules, ElementsAre("a", "b"));
  EXPECT_EQ(wishes->filter.min_severity, Severity::critical);
  EXPECT_EQ(std::get<Ack>(parse_client_message(R"({"op":"ack","seq":9})")).seq, 9U);
}

TEST(StreamProtocol, RefusesWhatItDoesNotUnderstand) {
  for (const char* text :
       {"[]", "{}", R"({"op":1})", R"({"op":"dance"})", R"({"op":"ack"})",
        R"({"op":"subscribe","after":-1})", R"({"op":"subscribe","after":"1"})",
        R"({"op":"subscribe","streams":["alarms"]})", R"({"op":"subscribe","streams":"alerts"})",
        R"({"op":"subscribe","min_severity":"bad"})", R"({"op":"subscribe","rules":[1]})"}) {
    EXPECT_TRUE(std::holds_alternative<Refusal>(parse_client_message(text))) << text;
  }
  for (const char* text : {"", "{", "nonsense", "{\"op\":\"\xff\"}"}) {
    EXPECT_TRUE(std::holds_alternative<NotJson>(parse_client_message(text))) << text;
  }
}

TEST(StreamProtocol, ReadsTheQuery) {
  const auto wishes = wishes_from_query("after=3&rules=a,b&min_severity=info&streams=status");
  ASSERT_TRUE(wishes);
  EXPECT_EQ(wishes->after, 3U);
  EXPECT_FALSE(wishes->alerts);
  EXPECT_THAT(wishes->filter.rules, ElementsAre("a", "b"));
  for (const char* query : {"after=", "after=-1", "after=1x", "min_severity=loud", "streams=x",
                            "from=1", "after=%zz", "epoch=%00"}) {
    EXPECT_FALSE(wishes_from_query(query)) << query;
  }
}

}  // namespace
}  // namespace trainwatch
