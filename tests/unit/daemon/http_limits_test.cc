// SPDX-License-Identifier: Apache-2.0
// The limits of HTTP clients, over real sockets. Catalogue cases 78 (slow clients), 80 (large
// requests, pipelining) and 86 (scrape storm).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/daemon/net_fixture.h"

namespace trainwatch::http_limits_test {

using std::chrono::milliseconds;
using testing::HasSubstr;

const std::string kHealth = "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n";
const std::string kAlerts = "GET /api/v1/alerts HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::string hits(const std::string& limit, int count) {
  return "trainwatch_limit_hits_total{name=\"" + limit + "\"} " + std::to_string(count) + "\n";
}

// The request is there when the server accepts the connection: no limit on time can pass between
// the two, however busy the machine is.
void send_at_once(TestServer& server, Wire& unconnected, const std::string& bytes) {
  server.on_net([&] {
    unconnected.connect_to(server.port());
    unconnected.send(bytes);
  });
}

std::string metrics(TestServer& server) {
  Wire wire(0);
  send_at_once(server, wire, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return read_response(wire).body;
}

bool asked(const MemoryAlertStore& store) {
  return store.asked > 0;
}

TEST(HttpLimits, AHalfOpenConnectionGivesWay) {
  NetOptions options;
  options.limits.http.connections = 2;
  options.limits.http.reserved = 0;
  TestServer server(options);
  Wire asking(server.port());
  asking.send(kHealth);
  EXPECT_EQ(read_response(asking).status, 200);
  Wire half(server.port());
  half.send("GET /-/healthy HT");
  Wire third(server.port());
  third.send(kHealth);
  EXPECT_EQ(read_response(third).status, 200);
  EXPECT_TRUE(half.at_end());
  asking.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto page = read_response(asking).body;
  EXPECT_THAT(page, HasSubstr("trainwatch_http_connections_refused_total 1\n"));
  EXPECT_THAT(page, HasSubstr(hits("web.max_connections", 1)));
  EXPECT_THAT(page, HasSubstr("trainwatch_http_connections 2\n"));
}

TEST(HttpLimits, ManyHalfOpenConnectionsKeepNobodyOut) {
  NetOptions options;
  options.limits.http.connections = 8;
  TestServer server(options);
  std::vector<std::unique_ptr<Wire>> half;
  for (int i = 0; i < 100; ++i) {
    half.push_back(std::make_unique<Wire>(server.port()));
    half.back()->send("GET /metrics HTTP/1.1\r\nHost: local");
    EXPECT_EQ(get(server.port(), "/metrics").status, 200) << i;
  }
}

// All places are taken by requests that wait for the engine.
TEST(HttpLimits, LoopbackKeepsPlacesForMetricsAndHealth) {
  NetOptions options;
  options.limits.http.connections = 2;
  options.limits.http.reserved = 8;
  TestServer server(options, {.alerts = 1});
  server.publish(1, 5);
  server.hold();
  Wire first(server.port());
  Wire second(server.port());
  first.send(kAlerts);
  second.send(kAlerts);
  ASSERT_TRUE(server.store_becomes([](const MemoryAlertStore& store) { return store.asked == 2; }));
  EXPECT_EQ(get(server.port(), "/").status, 503);
  EXPECT_EQ(get(server.port(), "/api/v1/alerts").status, 503);
  EXPECT_EQ(get(server.port(), "/-/healthy").status, 200);
  const auto page = get(server.port(), "/metrics");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("trainwatch_http_connections_refused_total 2\n"));
  EXPECT_THAT(page.body, HasSubstr(hits("web.max_connections", 2)));
  server.release();
  EXPECT_EQ(read_response(first).status, 200);
  EXPECT_EQ(read_response(second).status, 200);
}

TEST(HttpLimits, OnlySoManyWaitForTheEngine) {
  NetOptions options;
  options.limits.http.waiting = 1;
  TestServer server(options, {.alerts = 1});
  server.publish(1, 5);
  server.hold();
  Wire first(server.port());
  first.send(kAlerts);
  ASSERT_TRUE(server.store_becomes(asked));
  EXPECT_EQ(get(server.port(), "/api/v1/alerts").status, 503);
  EXPECT_THAT(metrics(server), HasSubstr(hits("web.max_waiting", 1)));
  server.release();
  EXPECT_EQ(read_response(first).status, 200);
  EXPECT_EQ(get(server.port(), "/api/v1/alerts").status, 200);
}

TEST(HttpLimits, ARequestMayNotBeSlow) {
  NetOptions options;
  options.limits.http.header = milliseconds(50);
  options.limits.http.idle = milliseconds(100);
  TestServer server(options);
  Wire silent(server.port());
  EXPECT_TRUE(silent.at_end());
  Wire second_request(0);
  send_at_once(server, second_request, kHealth + "GET /-/he");
  EXPECT_EQ(read_response(second_request).status, 200);
  EXPECT_TRUE(second_request.at_end());
  Wire idle(0);
  send_at_once(server, idle, kHealth);
  EXPECT_EQ(read_response(idle).status, 200);
  EXPECT_TRUE(idle.at_end());
  const auto page = metrics(server);
  EXPECT_THAT(page, HasSubstr(hits("web.header_timeout", 2)));
  EXPECT_THAT(page, HasSubstr(hits("web.idle_timeout", 1)));
}

// A client that does not read, and one that reads a little all the time.
TEST(HttpLimits, AResponseMustBeRead) {
  NetOptions options;
  options.limits.http.write = milliseconds(50);
  TestServer server(options);
  server.publish(make_alerts(1, 900, 4096));
  Wire stalled(server.port(), 4096);
  stalled.send(kAlerts);
  ASSERT_TRUE(becomes(
      [&] { return metrics(server).find(hits("web.write_timeout", 1)) != std::string::npos; }));
  EXPECT_EQ(read_response(stalled).body, "(cut)");
}

TEST(HttpLimits, AResponseMustBeReadQuickly) {
  NetOptions options;
  options.limits.http.write = milliseconds(100);
  options.limits.http.min_rate = std::uint64_t{1} << 30U;
  TestServer server(options);
  server.publish(make_alerts(1, 900, 4096));
  Wire slow(server.port(), 4096);
  slow.send(kAlerts);
  while (slow.take(4096)) {
    server.on_net([] { std::this_thread::sleep_for(milliseconds(1)); });
  }
  EXPECT_THAT(metrics(server), HasSubstr(hits("web.write_timeout", 1)));
}

TEST(HttpLimits, ARequestEndsInTime) {
  NetOptions options;
  options.limits.http.request = milliseconds(100);
  options.limits.http.min_rate = 0;
  TestServer server(options);
  server.publish(make_alerts(1, 900, 4096));
  Wire slow(server.port(), 4096);
  slow.send(kAlerts);
  while (slow.take(4096)) {
    server.on_net([] { std::this_thread::sleep_for(milliseconds(1)); });
  }
  EXPECT_THAT(metrics(server), HasSubstr(hits("web.request_timeout", 1)));
}

// 20 responses of 3.7 MB that nobody reads would be 74 MB: of those that have room, some are given
// up for later ones.
TEST(HttpLimits, ResponsesAreBoundedTogether) {
  NetOptions options;
  options.limits.http.unsent_bytes = std::size_t{16} << 20U;
  options.limits.http.send_buffer = 4096;
  options.limits.http.write = options.limits.http.request = kPatience;
  TestServer server(options);
  server.publish(make_alerts(1, 900, 4096));
  std::vector<std::unique_ptr<Wire>> readers;
  for (int i = 0; i < 20; ++i) {
    readers.push_back(std::make_unique<Wire>(server.port(), 4096));
    readers.back()->send(kAlerts);
  }
  std::vector<Wire*> begun;
  for (auto& reader : readers) {
    const auto head = reader->take_until("\r\n\r\n");
    if (head && head->find(" 200 ") != std::string::npos) begun.push_back(reader.get());
  }
  const auto whole = std::ranges::count_if(
      begun, [](Wire* reader) { return reader->take(std::size_t{900} * 4096).has_value(); });
  EXPECT_GE(whole, 3);
  EXPECT_LE(whole, 6);
  EXPECT_EQ(get(server.port(), "/metrics").status, 200);
}

TEST(HttpLimits, APipelineHasItsLength) {
  NetOptions options;
  options.limits.http.pipelined = 5;
  TestServer server(options);
  Wire wire(server.port());
  std::string all;
  for (int i = 0; i < 100; ++i) all += kHealth;
  wire.send(all);
  for (int i = 0; i < 5; ++i) {
    const auto response = read_response(wire);
    EXPECT_EQ(response.status, 200) << i;
    EXPECT_EQ(response.header("Connection"), i < 4 ? "keep-alive" : "close") << i;
  }
  EXPECT_TRUE(wire.at_end());
  Wire polite(server.port());
  for (int i = 0; i < 20; ++i) {
    polite.send(kHealth);
    EXPECT_EQ(read_response(polite).status, 200) << i;
  }
}

TEST(HttpLimits, TheSizesOfARequestAreSettings) {
  NetOptions options;
  options.limits.http.head_bytes = 2048;
  options.limits.http.target_bytes = 300;
  options.limits.http.header_bytes = 400;
  options.limits.http.headers = 8;
  TestServer server(options);
  const std::string start = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  std::string many = start;
  for (int i = 0; i < 8; ++i) many += "X" + std::to_string(i) + ": a\r\n";
  std::string large = start;
  for (int i = 0; i < 6; ++i) large += "X: " + std::string(390, 'a') + "\r\n";
  const std::pair<std::string, int> cases[] = {
      {"GET /" + std::string(290, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
      {"GET /" + std::string(300, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 414},
      {start + "X: " + std::string(390, 'a') + "\r\n\r\n", 200},
      {start + "X: " + std::string(400, 'a') + "\r\n\r\n", 431},
      {many + "\r\n", 431},
      {large + "\r\n", 431},
      {std::string(5000, 'a'), 414},
  };
  for (const auto& [request, status] : cases) {
    EXPECT_EQ(ask(server.port(), request).status, status) << request.substr(0, 60);
  }
  const auto page = metrics(server);
  for (const char* limit : {"web.max_head_bytes", "web.max_header_bytes", "web.max_headers"}) {
    EXPECT_THAT(page, HasSubstr(hits(limit, 1)));
  }
  EXPECT_THAT(page, HasSubstr(hits("web.max_target_bytes", 2)));
}

TEST(HttpLimits, EveryLimitIsOnThePageOnce) {
  TestServer server;
  Snapshot snapshot;
  snapshot.metrics = {{"trainwatch_limit",
                       "Of the engine.",
                       MetricType::gauge,
                       {},
                       {{{{"name", "files"}}, 7, {}, 0}}}};
  server.show(snapshot);
  const auto page = metrics(server);
  EXPECT_THAT(page, HasSubstr("trainwatch_limit{name=\"files\"} 7\n"));
  EXPECT_THAT(page, HasSubstr("trainwatch_limit{name=\"web.header_timeout\"} 5\n"));
  EXPECT_THAT(page, HasSubstr("trainwatch_limit{name=\"web.metrics_interval\"} 0\n"));
  for (const ClientLimit& limit : client_limits()) {
    EXPECT_THAT(page, HasSubstr("trainwatch_limit{name=\"" + std::string(limit.key) + "\"} "));
    EXPECT_THAT(page, HasSubstr(hits(std::string(limit.key), 0)));
    EXPECT_GE(limit.get({}), limit.min) << limit.key;
    EXPECT_LE(limit.get({}), limit.max) << limit.key;
  }
  const std::string type = "# TYPE trainwatch_limit gauge\n";
  EXPECT_EQ(page.find(type), page.rfind(type));
}

}  // namespace trainwatch::http_limits_test
