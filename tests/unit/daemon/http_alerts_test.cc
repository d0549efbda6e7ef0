// SPDX-License-Identifier: Apache-2.0
// GET /api/v1/alerts where the window does not reach back far enough.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/net_fixture.h"

namespace trainwatch::http_alerts_test {

using std::chrono::milliseconds;
using testing::HasSubstr;

std::string head(std::uint64_t first, std::uint64_t last) {
  return R"({"epoch":"epoch-1","first_seq":)" + std::to_string(first) + R"(,"last_seq":)" +
         std::to_string(last) + R"(,"alerts":[)";
}

// Without alerts (`last` < `first`), everything has been examined.
std::string body(std::uint64_t first_stored, std::uint64_t last_stored, std::uint64_t first,
                 std::uint64_t last) {
  std::string text = head(first_stored, last_stored);
  for (auto seq = first; seq <= last; ++seq) {
    if (seq > first) text += ",";
    text += make_alert(seq)->json;
  }
  return text + "],\"next\":" + std::to_string(last < first ? last_stored : last) + "}\n";
}

bool asked(const MemoryAlertStore& store) {
  return store.asked > 0;
}

TEST(HttpAlerts, ReadsTheStoreAndTheWindow) {
  TestServer server({}, {.alerts = 10});
  server.publish(1, 1500);
  const auto alerts = [&](const std::string& query) {
    return get(server.port(), "/api/v1/alerts" + query).body;
  };
  EXPECT_EQ(alerts("?after=1490"), body(1, 1500, 1491, 1500));
  EXPECT_FALSE(server.alert_store(asked));
  EXPECT_EQ(alerts("?after=1480"), body(1, 1500, 1481, 1500));
  EXPECT_EQ(alerts(""), body(1, 1500, 1, 1000));
  EXPECT_EQ(alerts("?after=900&limit=5"), body(1, 1500, 901, 905));
  EXPECT_EQ(alerts("?rule=other"), body(1, 1500, 1, 0));
  EXPECT_EQ(alerts("?after=1500"), body(1, 1500, 1, 0));
  EXPECT_EQ(alerts("?after=2000"), body(1, 1500, 1, 0));
  server.prune(1200);
  EXPECT_EQ(alerts("?limit=1"), body(1200, 1500, 1200, 1200));
  server.prune(1501, true);  // nobody said so; the window still has some
  EXPECT_EQ(alerts(""), body(1200, 1500, 1491, 1500));
}

// A number that no alert has yet needs no store, whatever it is: 2^64-1 once wrapped to 0 and read
// everything.
TEST(HttpAlerts, AnyNumberAheadIsAnsweredAtOnce) {
  TestServer server({}, {.alerts = 10});
  server.publish(1, 1500);
  server.hold();
  for (const char* after : {"1500", "1501", "9223372036854775807", "9223372036854775808",
                            "18446744073709551614", "18446744073709551615"}) {
    EXPECT_EQ(get(server.port(), std::string("/api/v1/alerts?after=") + after).body,
              body(1, 1500, 1, 0))
        << after;
  }
  EXPECT_FALSE(server.alert_store(asked));
  for (const char* after : {"18446744073709551616", "99999999999999999999", "-1", "1e3"}) {
    EXPECT_EQ(get(server.port(), std::string("/api/v1/alerts?after=") + after).status, 400)
        << after;
  }
}

TEST(HttpAlerts, HeadAndPipelinedRequestsWaitTheirTurn) {
  TestServer server({}, {.alerts = 1});
  server.publish(1, 5);
  server.hold();
  Wire wire(server.port());
  const std::string rest = " /api/v1/alerts HTTP/1.1\r\nHost: localhost\r\n\r\n";
  wire.send("HEAD" + rest + "GET" + rest + "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(server.store_becomes(asked));
  server.release();
  EXPECT_EQ(read_response(wire, false).header("Content-Length"),
            std::to_string(body(1, 5, 1, 5).size()));
  EXPECT_EQ(read_response(wire).body, body(1, 5, 1, 5));
  EXPECT_EQ(read_response(wire).body, "healthy\n");
}

TEST(HttpAlerts, AFailingStoreIs503) {
  MemoryAlertStore broken;
  broken.store(make_alerts(1, 5));
  broken.fails = true;
  TestServer server({}, {}, broken);
  Wire wire(server.port());
  wire.send("GET /api/v1/alerts HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(read_response(wire).status, 503);
  server.on_store([](auto& store) { store.fails = false; });
  wire.send("GET /api/v1/alerts HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(read_response(wire).body, body(1, 5, 1, 5));
}

TEST(HttpAlerts, ASilentStoreIs503InTime) {
  NetOptions options;
  options.limits.http.answer = milliseconds(20);
  TestServer server(options, {.alerts = 1});
  server.publish(1, 5);
  server.hold();
  Wire wire(server.port());
  wire.send("GET /api/v1/alerts HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto response = read_response(wire);
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.header("Connection"), "close");
  EXPECT_TRUE(wire.at_end());
  server.release();  // too late, and to nobody
  EXPECT_EQ(get(server.port(), "/-/healthy").status, 200);
}

TEST(HttpAlerts, ClosingWhileARequestWaits) {
  TestServer server({}, {.alerts = 1});
  server.publish(1, 5);
  server.hold();
  Wire wire(server.port());
  wire.send("GET /api/v1/alerts HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(server.store_becomes(asked));
  server.stop();
  EXPECT_TRUE(wire.at_end());
}

TEST(HttpAlerts, AClientMayLeaveWhileItWaits) {
  TestServer server({}, {.alerts = 1});
  server.publish(1, 5);
  server.hold();
  {
    Wire wire(server.port());
    wire.send("GET /api/v1/alerts HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_TRUE(server.store_becomes(asked));
  }
  server.release();
  EXPECT_THAT(get(server.port(), "/metrics").body,
              HasSubstr("trainwatch_http_requests_total{code_class=\"2xx\"} 1\n"));
}

}  // namespace trainwatch::http_alerts_test
