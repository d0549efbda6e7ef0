// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/net_fixture.h"

namespace trainwatch::ws_test {

using std::chrono::milliseconds;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string alert_text(std::uint64_t seq, const std::string& rule = "step_spike") {
  return R"({"op":"alert",)" + make_alert(seq, rule)->json.substr(1);
}

std::string metrics(const TestServer& server) {
  return get(server.port(), "/metrics").body;
}

TEST(WsSession, HelloThenAlertsAsTheyCome) {
  TestServer server;
  server.publish(1, 3);
  WsClient client(server.port());
  EXPECT_EQ(client.response().status, 101);
  EXPECT_EQ(client.response().header("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_EQ(client.response().header("Sec-WebSocket-Protocol"), "");
  EXPECT_EQ(client.response().header("Sec-WebSocket-Extensions"), "");
  EXPECT_EQ(client.text(), R"({"op":"hello","epoch":"epoch-1","first_seq":1,"last_seq":3})");
  server.publish(4, 5);
  EXPECT_EQ(client.text(), alert_text(4));
  EXPECT_EQ(client.text(), alert_text(5));
}

TEST(WsSession, AnswersTheSubprotocol) {
  TestServer server;
  const auto answer = [&](const std::string& offered) {
    WsClient client(server.port(), "", "Sec-WebSocket-Protocol: " + offered + "\r\n");
    EXPECT_EQ(client.response().status, 101);
    return client.response().header("Sec-WebSocket-Protocol");
  };
  EXPECT_EQ(answer("trainwatch.v1.json"), "trainwatch.v1.json");
  EXPECT_EQ(answer("cloudevents.json, trainwatch.v1.json"), "trainwatch.v1.json");
  EXPECT_EQ(answer("other"), "");
}

TEST(WsSession, Filters) {
  TestServer server;
  WsClient client(server.port(), "?rules=a,b&min_severity=warning");
  client.text();
  server.publish({make_alert(1, "a"), make_alert(2, "c"), make_alert(3, "b", Severity::info),
                  make_alert(4, "b", Severity::critical)});
  EXPECT_EQ(client.text(), alert_text(1, "a"));
  EXPECT_EQ(client.text(), alert_text(4, "b"));
}

TEST(WsSession, StatusAtOnceThenCoalesced) {
  NetOptions options;
  options.limits.ws.status = milliseconds(100);
  TestServer server(options);
  const auto numbered = [](int n) {
    Snapshot snapshot;
    snapshot.status_json = R"({"n":)" + std::to_string(n) + "}";
    return std::make_shared<const Snapshot>(std::move(snapshot));
  };
  server.show(*numbered(1));
  WsClient client(server.port(), "?streams=status,alerts,steps");
  client.text();
  EXPECT_EQ(client.text(), R"({"op":"status","n":1})");
  server.later([&](NetServer& net) {  // one after the other, and no timer between them
    for (int n = 2; n <= 50; ++n) net.show(numbered(n));
  });
  int frames = 0;
  std::string text;
  while (text != R"({"op":"status","n":50})") {
    text = client.text();
    ASSERT_THAT(text, StartsWith(R"({"op":"status")"));
    ++frames;
  }
  EXPECT_LE(frames, 2) << "the first, if one is due, and the last";
}

// Every snapshot's steps are sent, however close together snapshots are.
TEST(WsSession, StepsAsTheyEnd) {
  TestServer server;
  WsClient client(server.port(), "?streams=steps");
  WsClient other(server.port());
  client.text();
  other.text();
  for (int n = 1; n <= 3; ++n) {
    Snapshot snapshot;
    snapshot.status_json = R"({"n":1})";
    snapshot.steps_json = R"({"steps":[{"step":)" + std::to_string(n) + "}]}";
    snapshot.steps = 1;
    server.show(snapshot);
    EXPECT_EQ(client.text(),
              R"({"op":"step","dropped":0,"steps":[{"step":)" + std::to_string(n) + "}]}");
  }
  server.publish(1, 1);
  EXPECT_EQ(other.text(), alert_text(1));
}

TEST(WsSession, AnUnknownStreamIsRefused) {
  TestServer server;
  const Reply refused = WsClient(server.port(), "?streams=step").response();
  EXPECT_EQ(refused.status, 400);
  WsClient client(server.port());
  client.text();
  client.send(R"({"op":"subscribe","streams":["step"]})");
  EXPECT_THAT(client.text(), HasSubstr("streams is a list of alerts, steps, status and tensors"));
}

TEST(WsSession, AnAckWithoutANameIsFineAndNonsenseIsAnswered) {
  TestServer server;
  WsClient client(server.port());
  client.text();
  server.publish(1, 1);
  EXPECT_EQ(client.text(), alert_text(1));
  client.send(R"({"op":"ack","seq":1})");
  client.send(R"({"op":"dance"})");
  EXPECT_THAT(client.text(), StartsWith(R"({"op":"error","message":)"));
  client.send(R"({"op":"subscribe","streams":["alarms"]})");
  EXPECT_THAT(client.text(), StartsWith(R"({"op":"error","message":)"));
  server.publish(2, 2);
  EXPECT_EQ(client.text(), alert_text(2));
}

TEST(WsSession, BrokenClientsAreClosedWithTheirCode) {
  NetOptions options;
  options.limits.ws.messages_per_second = 2;  // so that 30 are too many for a busy machine as well
  TestServer server(options);
  const struct {
    std::string text;
    int opcode;
    int code;
  } cases[] = {
      {"{nonsense", 1, 1007},
      {"\xff\xfe", 1, 1007},
      {"{}", 2, 1003},
      {"{}", 3, 1002},
      {std::string(5000, ' '), 1, 1009},
      {std::string(2, '\0'), 8, 1002},
  };
  for (const auto& row : cases) {
    WsClient client(server.port());
    client.text();
    client.send(row.text, row.opcode);
    EXPECT_EQ(client.read().close_code(), row.code) << row.opcode << row.text.substr(0, 9);
  }
  WsClient chatty(server.port());
  chatty.text();
  for (int i = 0; i < 30; ++i) chatty.send(R"({"op":"ack","seq":0})");
  EXPECT_EQ(chatty.read().close_code(), 1008);
  WsClient pinging(server.port());
  pinging.text();
  for (int i = 0; i < 30; ++i) pinging.send("", 9);
  WsClient::Message last;
  do last = pinging.read();
  while (last.opcode == 10);
  EXPECT_EQ(last.close_code(), 1008);
}

// RFC 6455, 7.4: codes below 1000, reserved ones and those above 4999 are errors; others come back.
TEST(WsSession, OnlyCloseCodesThatExistAreAnswered) {
  TestServer server;
  const auto answer = [&](unsigned code) {
    WsClient client(server.port());
    client.text();
    client.send({static_cast<char>(code >> 8U), static_cast<char>(code & 255U)}, 8);
    return client.read().close_code();
  };
  for (const int code : {1000, 1001, 1002, 1003, 1007, 1011, 1013, 3000, 3999, 4000, 4999}) {
    EXPECT_EQ(answer(static_cast<unsigned>(code)), code);
  }
  for (const unsigned code :
       {0U, 999U, 1004U, 1005U, 1006U, 1014U, 1015U, 1016U, 2999U, 5000U, 32768U, 65535U}) {
    EXPECT_EQ(answer(code), 1002) << code;
  }
}

TEST(WsSession, AHandshakeThatIsRefusedIsAnOrdinaryResponse) {
  TestServer server;
  const std::string start =
      "GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n";
  const std::string upgrade = "Upgrade: websocket\r\n";
  const std::string version = "Sec-WebSocket-Version: 13\r\n";
  const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const std::pair<std::string, int> cases[] = {
      {start + version + key, 426},
      {start + upgrade + key, 426},
      {start + upgrade + key + "Sec-WebSocket-Version: 8\r\n", 426},
      {start + upgrade + key + "Sec-WebSocket-Version: 13, 8\r\n", 426},
      {start + upgrade + key + version + version, 400},
      {start + upgrade + version, 400},
      {start + upgrade + version + key + key, 400},
      {start + upgrade + version + "Sec-WebSocket-Key: \r\n", 400},
      {start + upgrade + version + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=\r\n", 400},
      {start + upgrade + version + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZ===\r\n", 400},
      {start + upgrade + version + "Sec-WebSocket-Key: " + std::string(4000, 'A') + "\r\n", 400},
  };
  for (const auto& [request, status] : cases) {
    const auto response = ask(server.port(), request + "\r\n");
    EXPECT_EQ(response.status, status) << request;
    EXPECT_EQ(response.header("X-Content-Type-Options"), "nosniff") << request;
    EXPECT_EQ(response.header("X-Frame-Options"), "DENY") << request;
    EXPECT_THAT(response.header("Content-Security-Policy"), HasSubstr("default-src 'none'"));
    EXPECT_EQ(response.header("Sec-WebSocket-Version"), status == 426 ? "13" : "") << request;
  }
  const auto accepted = ask(server.port(), start + upgrade + version + key + "\r\n");
  EXPECT_EQ(accepted.status, 101);
  EXPECT_EQ(accepted.header("X-Content-Type-Options"), "nosniff");
}

TEST(WsSession, PagesOfOthersAreRefused) {
  TestServer server;
  for (const char* origin : {"http://evil.example", "null", "http://localhost:1", "",
                             "http://localhost\r\nOrigin: http://localhost"}) {
    WsClient client(server.port(), "", std::string("Origin: ") + origin + "\r\n");
    EXPECT_EQ(client.response().status, 403) << origin;
  }
  WsClient own(server.port(), "", "Origin: http://localhost\r\n");
  EXPECT_EQ(own.response().status, 101);
  EXPECT_EQ(WsClient(server.port(), "?after=x").response().status, 400);
}

TEST(WsSession, OnlySoManySubscribers) {
  NetOptions options;
  options.limits.ws.subscribers = 1;
  TestServer server(options);
  WsClient first(server.port());
  EXPECT_EQ(first.response().status, 101);
  EXPECT_EQ(WsClient(server.port()).response().status, 503);
}

TEST(WsSession, HeartbeatsCarryTheLag) {
  NetOptions options;
  options.limits.ws.heartbeat = milliseconds(10);
  TestServer server(options);
  Snapshot snapshot;
  snapshot.lag_seconds = 1.5;
  server.show(snapshot);
  WsClient client(server.port());
  client.read_frame();
  EXPECT_EQ(client.read_frame().data, R"({"op":"heartbeat","lag_seconds":1.5})");
}

TEST(WsSession, WhoAnswersNoPingIsDropped) {
  NetOptions options;
  options.limits.ws.heartbeat = milliseconds(10);
  options.limits.ws.ping = milliseconds(30);
  TestServer server(options);
  WsClient client(server.port());
  int pings = 0;
  for (auto frame = client.read_frame(); frame.opcode != -1; frame = client.read_frame()) {
    if (frame.opcode == 9) ++pings;
  }
  EXPECT_EQ(pings, 2);
  EXPECT_THAT(metrics(server),
              HasSubstr("trainwatch_ws_disconnects_total{reason=\"timeout\"} 1\n"));
}

// Whether a client that answers pings at once hears four of them, which come after this silence.
bool stays_with_pings_after(milliseconds silence) {
  NetOptions options;
  options.limits.ws.heartbeat = milliseconds(10);
  options.limits.ws.ping = silence;
  options.limits.ws.messages_per_second = 1000;
  TestServer server(options);
  WsClient client(server.port());
  for (int pings = 0; pings < 4;) {
    const auto frame = client.read_frame();
    if (frame.opcode == -1) return false;
    if (frame.opcode != 9) continue;
    client.send(frame.data, 10);
    ++pings;
  }
  return true;
}

// On a machine that is so busy that an answer is late, pings are farther apart.
TEST(WsSession, WhoAnswersPingsStays) {
  milliseconds silence{100};
  while (!stays_with_pings_after(silence)) {
    silence *= 4;
    ASSERT_LT(silence, kPatience);
  }
}

// A client that does not read while 24 MB of alerts come is closed with 1013; when it reads again
// it gets what the kernel held, then the close, and resumes without losing one.
TEST(WsSession, ASlowClientIsClosedAndResumes) {
  NetOptions options;
  options.limits.ws.heartbeat = milliseconds(10);
  options.limits.ws.lag_time = milliseconds(0);
  options.limits.ws.close = kPatience;
  TestServer server(options);
  std::uint64_t last = 0;
  {
    WsClient client(server.port(), "", "", 4096);
    client.text();
    WsClient quick(server.port());
    quick.text();
    // In portions below queue_bytes: one who reads is never behind, however busy the machine.
    for (int portions = 0; portions < 30; ++portions) {
      server.publish(make_alerts(last + 1, last + 200, 4096));
      for (int n = 0; n < 200; ++n) ASSERT_THAT(quick.text(), StartsWith(R"({"op":"alert")"));
      last += 200;
    }
    for (int heartbeats = 0; heartbeats < 5; ++heartbeats) quick.read_frame();
    std::uint64_t seen = 0;
    auto message = client.read();
    for (; message.opcode == 1; message = client.read()) ++seen;
    EXPECT_EQ(message.close_code(), 1013);
    EXPECT_LT(seen, last);
    WsClient again(server.port(), "?after=" + std::to_string(seen));
    again.text();
    for (auto seq = seen + 1; seq <= last; ++seq) {
      ASSERT_THAT(again.text(), HasSubstr(R"("seq":)" + std::to_string(seq) + ","));
    }
  }
  EXPECT_THAT(metrics(server), HasSubstr("trainwatch_ws_disconnects_total{reason=\"slow\"} 1\n"));
}

TEST(WsSession, AStalledClientIsCutOffEvenWithoutLag) {
  NetOptions options;
  options.limits.ws.heartbeat = milliseconds(10);
  options.limits.ws.stall = milliseconds(50);
  options.limits.ws.close = milliseconds(50);
  TestServer server(options);
  server.publish(make_alerts(1, 6000, 4096));
  WsClient client(server.port(), "?after=0", "", 4096);
  const std::string gone = "trainwatch_ws_disconnects_total{reason=\"slow\"} 1\n";
  ASSERT_TRUE(becomes([&] { return metrics(server).find(gone) != std::string::npos; }));
}

// Catching up is not being slow, however much there is.
TEST(WsSession, ABacklogAboveTheLimitIsDelivered) {
  NetOptions options;
  options.limits.ws.heartbeat = milliseconds(5);
  options.limits.ws.lag_time = milliseconds(0);
  options.limits.ws.queue_bytes = 1000;
  TestServer server(options);
  server.publish(make_alerts(1, 5000, 1000));
  WsClient client(server.port(), "?after=0");
  client.text();
  for (std::uint64_t seq = 1; seq <= 5000; ++seq) {
    ASSERT_THAT(client.text(), HasSubstr(R"("seq":)" + std::to_string(seq) + ","));
  }
}

TEST(WsSession, SaysGoodbyeAtShutdown) {
  TestServer server;
  WsClient client(server.port());
  client.text();
  std::thread stopping([&] { server.stop(); });
  EXPECT_EQ(client.read().close_code(), 1001);
  client.send("\x03\xe9", 8);
  stopping.join();
}

TEST(WsSession, SendsWhatIsPublishedBeforeItSaysGoodbye) {
  TestServer server;
  WsClient client(server.port());
  client.text();
  server.publish(make_alerts(1, 1000, 256));
  std::thread stopping([&] { server.stop(); });
  for (std::uint64_t seq = 1; seq <= 1000; ++seq) {
    ASSERT_THAT(client.text(), HasSubstr(R"("seq":)" + std::to_string(seq) + ","));
  }
  EXPECT_EQ(client.read().close_code(), 1001);
  client.send("\x03\xe9", 8);
  stopping.join();
}

TEST(WsSession, CutsAClientThatDoesNotReadAtShutdown) {
  NetOptions options;
  options.limits.ws.close = milliseconds(50);
  TestServer server(options);
  WsClient client(server.port(), "", "", 4096);
  client.text();
  server.publish(make_alerts(1, 6000, 4096));
  server.stop();  // and returns
}

TEST(WsSession, CountsItsClients) {
  TestServer server;
  {
    WsClient client(server.port());
    client.text();
    EXPECT_THAT(metrics(server), HasSubstr("trainwatch_ws_subscribers 1\n"));
    client.send("\x03\xe8", 8);
    EXPECT_EQ(client.read().close_code(), 1000);
  }
  EXPECT_THAT(metrics(server), HasSubstr("trainwatch_ws_disconnects_total{reason=\"client\"} 1\n"));
  EXPECT_THAT(metrics(server), HasSubstr("trainwatch_ws_subscribers 0\n"));
}

}  // namespace trainwatch::ws_test
