// SPDX-License-Identifier: Apache-2.0
// Clients that come back, over a real socket: from the window, from the store, under a name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/net_fixture.h"

namespace trainwatch::ws_resume_test {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

std::string alert_text(std::uint64_t seq) {
  return R"({"op":"alert",)" + make_alert(seq)->json.substr(1);
}

NetOptions quick_acks() {
  NetOptions options;
  options.limits.ws.acks = milliseconds(5);
  return options;
}

auto acknowledges(const std::string& name, std::uint64_t seq) {
  return [=](const MemoryAlertStore& store) {
    const auto known = store.acknowledged.find(name);
    return known != store.acknowledged.end() && known->second == seq;
  };
}

// What a client with `query` hears, up to and with alert `last`, without the hello.
std::vector<std::string> hear(const TestServer& server, const std::string& query,
                              std::uint64_t last) {
  WsClient client(server.port(), query);
  std::vector<std::string> out;
  for (std::string text = client.text(); !text.empty(); text = client.text()) {
    if (text.find(R"("op":"hello")") == std::string::npos) out.push_back(text);
    if (text == alert_text(last)) break;
  }
  return out;
}

std::vector<std::string> alert_texts(std::uint64_t first, std::uint64_t last) {
  std::vector<std::string> out;
  for (auto seq = first; seq <= last; ++seq) out.push_back(alert_text(seq));
  return out;
}

TEST(WsResume, ByQueryAndByMessage) {
  TestServer server({}, {.alerts = 3});
  server.publish(1, 8);
  server.prune(4);
  WsClient by_query(server.port(), "?after=6&epoch=epoch-1");
  EXPECT_EQ(by_query.text(), R"({"op":"hello","epoch":"epoch-1","first_seq":4,"last_seq":8})");
  EXPECT_EQ(by_query.text(), alert_text(7));
  EXPECT_EQ(by_query.text(), alert_text(8));

  WsClient by_message(server.port());
  EXPECT_THAT(by_message.text(), HasSubstr("hello"));
  by_message.send(R"({"op":"subscribe","streams":["alerts"],"after":2})");
  EXPECT_EQ(by_message.text(), R"({"op":"gap","from":3,"to":3})");
  for (std::uint64_t seq = 4; seq <= 8; ++seq) EXPECT_EQ(by_message.text(), alert_text(seq));
  by_message.send(R"({"op":"subscribe","after":7,"epoch":"another"})");
  EXPECT_EQ(by_message.text(), R"({"op":"reset","epoch":"epoch-1"})");
  EXPECT_EQ(by_message.text(), R"({"op":"gap","from":1,"to":3})");
  EXPECT_EQ(by_message.text(), alert_text(4));
}

// Catalogue case 84, at the ends of the numbers: the largest is ahead of us, not the one before 0.
TEST(WsResume, TheLargestNumbersAreAheadOfUs) {
  TestServer server;
  server.publish(1, 2);
  for (const char* after : {"3", "9223372036854775808", "18446744073709551615"}) {
    WsClient client(server.port(), std::string("?after=") + after);
    client.text();
    EXPECT_EQ(client.text(), R"({"op":"reset","epoch":"epoch-1"})") << after;
    EXPECT_EQ(client.text(), alert_text(1)) << after;
    EXPECT_EQ(client.text(), alert_text(2)) << after;
    client.send(std::string(R"({"op":"ack","seq":)") + after + "}");
    EXPECT_EQ(client.text(), R"({"op":"error","message":"ack: seq is above last_seq"})") << after;
  }
  EXPECT_EQ(WsClient(server.port(), "?after=18446744073709551616").response().status, 400);
}

// 20,000 stored, 4,096 in memory: nothing is missing and nothing comes twice, while more arrive.
TEST(WsResume, FromTheStoreIntoTheWindow) {
  TestServer server;
  server.publish(1, 20'000);
  WsClient client(server.port(), "?after=0");
  client.text();
  std::uint64_t last = 20'000;
  for (std::uint64_t seq = 1; seq <= 25'000; ++seq) {
    if (seq % 1000 == 0 && last < 25'000) {
      server.publish(last + 1, last + 500);
      last += 500;
    }
    ASSERT_EQ(client.text(), alert_text(seq));
  }
}

TEST(WsResume, APrunedPlaceIsAGap) {
  TestServer server({}, {.alerts = 2});
  server.publish(1, 9);
  server.prune(5);
  const auto heard = hear(server, "?after=2", 9);
  ASSERT_EQ(heard.size(), 6U);
  EXPECT_EQ(heard[0], R"({"op":"gap","from":3,"to":4})");
  EXPECT_EQ(heard[1], alert_text(5));
}

// The store drops alerts between the question and the answer.
TEST(WsResume, PrunedMeanwhileIsAGap) {
  TestServer server({}, {.alerts = 2});
  server.publish(1, 9);
  server.hold();
  WsClient client(server.port(), "?after=2");
  client.text();
  ASSERT_TRUE(server.store_becomes([](const auto& store) { return store.asked == 1; }));
  server.prune(6, true);
  server.release();
  EXPECT_EQ(client.text(), R"({"op":"gap","from":3,"to":5})");
  for (std::uint64_t seq = 6; seq <= 9; ++seq) EXPECT_EQ(client.text(), alert_text(seq));
}

TEST(WsResume, AFuturePlaceAndAnotherEpochAreAReset) {
  TestServer server({}, {.alerts = 2});
  server.publish(1, 5);
  for (const char* query : {"?after=6", "?after=3&epoch=other", "?epoch=other&name=pager"}) {
    const auto heard = hear(server, query, 5);
    ASSERT_EQ(heard.size(), 6U) << query;
    EXPECT_EQ(heard[0], R"({"op":"reset","epoch":"epoch-1"})") << query;
    EXPECT_EQ(heard[1], alert_text(1)) << query;
  }
}

// Restart on the same store: the window is empty, everything comes from the store.
TEST(WsResume, AfterARestartOfTheServer) {
  MemoryAlertStore kept;
  {
    TestServer server;
    server.publish(1, 500);
    kept = server.alert_store([](const auto& store) { return store; });
  }
  TestServer server({}, {}, kept);
  EXPECT_EQ(hear(server, "?after=100&epoch=epoch-1", 500), alert_texts(101, 500));
  WsClient live(server.port());
  EXPECT_EQ(live.text(), R"({"op":"hello","epoch":"epoch-1","first_seq":1,"last_seq":500})");
  server.publish(501, 501);
  EXPECT_EQ(live.text(), alert_text(501));
}

TEST(WsResume, ANameGoesOnAfterItsAcks) {
  MemoryAlertStore kept;
  {
    TestServer server(quick_acks());
    server.publish(1, 3);
    WsClient pager(server.port(), "?name=pager");
    pager.text();
    EXPECT_TRUE(server.store_becomes(acknowledges("pager", 3)));  // at first sight
    server.publish(4, 8);
    for (std::uint64_t seq = 4; seq <= 8; ++seq) EXPECT_EQ(pager.text(), alert_text(seq));
    pager.send(R"({"op":"ack","seq":6})");
    pager.send(R"({"op":"ack","seq":5})");
    EXPECT_TRUE(server.store_becomes(acknowledges("pager", 6)));
    EXPECT_EQ(hear(server, "?name=pager", 8), alert_texts(7, 8));
    EXPECT_EQ(hear(server, "?name=pager&after=2", 8), alert_texts(3, 8));
    pager.send(R"({"op":"ack","seq":9})");
    EXPECT_EQ(pager.text(), R"({"op":"error","message":"ack: seq is above last_seq"})");
    kept = server.alert_store([](const auto& store) { return store; });
  }
  TestServer server({}, {}, kept);
  EXPECT_EQ(hear(server, "?name=pager", 8), alert_texts(7, 8));
  WsClient by_message(server.port());
  by_message.text();
  by_message.send(R"({"op":"subscribe","name":"pager"})");
  EXPECT_EQ(by_message.text(), alert_text(7));
}

TEST(WsResume, TwoConnectionsOfOneNameHearAllAndTheLatestAckCounts) {
  TestServer server(quick_acks());
  WsClient first(server.port(), "?name=pager");
  WsClient second(server.port(), "?name=pager");
  first.text();
  second.text();
  server.publish(1, 3);
  for (auto* client : {&first, &second}) {
    for (std::uint64_t seq = 1; seq <= 3; ++seq) EXPECT_EQ(client->text(), alert_text(seq));
  }
  first.send(R"({"op":"ack","seq":3})");
  ASSERT_TRUE(server.store_becomes(acknowledges("pager", 3)));
  second.send(R"({"op":"ack","seq":2})");
  second.send(R"({"op":"dance"})");
  EXPECT_THAT(second.text(), HasSubstr("unknown op"));  // the ack was heard before it
  EXPECT_EQ(hear(server, "?name=pager&after=2", 3), alert_texts(3, 3));
  EXPECT_TRUE(server.alert_store(acknowledges("pager", 3)));
}

// An ack that is not due yet is stored when the server closes.
TEST(WsResume, AcksAreStoredAtShutdown) {
  NetOptions options;
  options.limits.ws.acks = std::chrono::hours(1);
  TestServer server(options);
  WsClient pager(server.port(), "?name=pager");
  pager.text();
  server.publish(1, 1);
  EXPECT_EQ(pager.text(), alert_text(1));
  pager.send(R"({"op":"ack","seq":1})");
  pager.send(R"({"op":"dance"})");
  EXPECT_THAT(pager.text(), HasSubstr("unknown op"));
  EXPECT_TRUE(server.alert_store(acknowledges("pager", 0)));
  server.store_acknowledged();
  EXPECT_TRUE(server.alert_store(acknowledges("pager", 1)));
}

TEST(WsResume, NamesAreFewAndCounted) {
  MemoryAlertStore full;
  for (int i = 0; i < 64; ++i) full.acknowledged["n" + std::to_string(i)] = 0;
  TestServer server({}, {}, full);
  std::vector<std::unique_ptr<WsClient>> clients;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(std::make_unique<WsClient>(server.port(), "?name=late" + std::to_string(i)));
    clients.back()->text();
  }
  WsClient last(server.port(), "?name=last");
  last.text();
  EXPECT_THAT(last.text(), HasSubstr("64 names are in use"));
  EXPECT_EQ(WsClient(server.port(), "?name=a/b").response().status, 400);
  const auto metrics = get(server.port(), "/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("trainwatch_durable_subscribers 64\n"));
  EXPECT_THAT(metrics, HasSubstr("trainwatch_durable_subscribers_refused_total 1\n"));
  EXPECT_THAT(metrics, HasSubstr("trainwatch_limit_hits_total{name=\"stream.max_names\"} 65\n"));
}

TEST(WsResume, ProvisionalAlertsComeAtOnceAndAgainWithTheirNumber) {
  TestServer server;
  WsClient client(server.port());
  WsClient other(server.port(), "?rules=other");
  client.text();
  other.text();
  server.publish_provisional({make_provisional("id1")});
  EXPECT_EQ(client.text(), R"({"op":"alert","provisional":true,"id":"id1","rule":"step_spike"})");
  server.publish(1, 1);
  EXPECT_EQ(client.text(), alert_text(1));
  EXPECT_EQ(hear(server, "?after=0", 1), alert_texts(1, 1));
  server.publish({make_alert(2, "other")});
  EXPECT_THAT(other.text(), HasSubstr(R"("seq":2)"));
}

TEST(WsResume, ASlowClientDropsProvisionalAlertsOnly) {
  TestServer server;
  WsClient client(server.port(), "", "", 4096);
  client.text();
  std::uint64_t count = 0;
  const auto dropped = [&] {
    return get(server.port(), "/metrics").body.find("provisional_dropped_total 0\n") ==
           std::string::npos;
  };
  server.publish(make_alerts(1, 3000, 4096));  // more than the kernel holds
  while (!dropped() && ++count < 100) {
    server.publish_provisional(std::vector(1000, make_provisional("p")));
  }
  EXPECT_LT(count, 100U);
  std::uint64_t seen = 0;
  while (seen < 3000) {
    const auto text = client.text();
    ASSERT_THAT(text, StartsWith(R"({"op":"alert")"));
    if (text.find("provisional") == std::string::npos) ++seen;
  }
}

// Waiting for the store is not being slow; when it fails it is asked again at the next heartbeat.
TEST(WsResume, ASilentOrFailingStoreDelaysAndLosesNothing) {
  NetOptions options;
  options.limits.ws.heartbeat = milliseconds(5);
  options.limits.ws.lag_time = milliseconds(50);
  options.limits.ws.queue_bytes = 10;
  MemoryAlertStore broken;
  broken.fails = true;
  TestServer server(options, {.alerts = 2}, broken);
  WsClient client(server.port());
  client.text();
  server.hold();
  server.publish(1, 9);
  for (int i = 0; i < 30; ++i) ASSERT_THAT(client.read_frame().data, HasSubstr("heartbeat"));
  server.release();
  ASSERT_TRUE(server.store_becomes([](const auto& store) { return store.asked >= 3; }));
  server.on_store([](auto& store) { store.fails = false; });
  for (std::uint64_t seq = 1; seq <= 9; ++seq) EXPECT_EQ(client.text(), alert_text(seq));
}

TEST(WsResume, AClientMayLeaveWhileItsPageIsRead) {
  TestServer server({}, {.alerts = 2});
  server.publish(1, 9);
  server.hold();
  {
    WsClient client(server.port(), "?after=0");
    client.text();
    ASSERT_TRUE(server.store_becomes([](const auto& store) { return store.asked == 1; }));
  }
  const std::string gone = "trainwatch_ws_subscribers 0\n";
  ASSERT_TRUE(
      becomes([&] { return get(server.port(), "/metrics").body.find(gone) != std::string::npos; }));
  server.release();
  EXPECT_EQ(hear(server, "?after=0", 9), alert_texts(1, 9));
}

}  // namespace trainwatch::ws_resume_test
