// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>

#include "daemon/net/accept.h"
#include "daemon/net/web_assets.h"
#include "tests/unit/daemon/net_fixture.h"

namespace trainwatch::http_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Snapshot ready_snapshot() {
  Snapshot snapshot;
  snapshot.ready = true;
  snapshot.runs_json = R"({"runs":[{"job":"bert"}]})";
  snapshot.status_json = R"({"version":"1.2.3","ready":true})";
  snapshot.metrics = {
      {"trainwatch_steps_total", "Steps seen.", MetricType::counter, {}, {{{}, 7, {}, 0}}}};
  return snapshot;
}

TEST(HttpServer, WhereTheSnapshotIsOldANewOneIsWaitedFor) {
  TestServer* running = nullptr;
  std::atomic<int> asked{0};
  DataSources sources;
  sources.refresh = [&](const std::function<void()>& done) {
    running->later([number = ++asked, done](NetServer& server) {
      auto snapshot = std::make_shared<Snapshot>(ready_snapshot());
      snapshot->runs_json = std::to_string(number);
      server.show(std::move(snapshot));
      done();
    });
  };
  TestServer server({}, {}, {}, 0, std::move(sources));
  running = &server;
  EXPECT_EQ(get(server.port(), "/-/ready").status, 503) << "does not wait";
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(get(server.port(), "/api/v1/runs").body, "1\n");
  EXPECT_EQ(get(server.port(), "/api/v1/runs").body, "1\n") << "that is new enough";
  EXPECT_THAT(get(server.port(), "/metrics").body, HasSubstr("trainwatch_steps_total 7\n"));
  EXPECT_EQ(asked, 1);
}

TEST(HttpServer, WhoeverCannotWaitForANewSnapshotGetsTheLatest) {
  DataSources sources;
  sources.refresh = [](const auto&) {};  // the engine is busy
  NetOptions slow;
  slow.limits.http.refresh = std::chrono::milliseconds(20);
  NetOptions full;
  full.limits.http.waiting = 0;
  for (const NetOptions& options : {slow, full}) {
    TestServer server(options, {}, {}, 0, sources);
    for (const char* const path : {"/metrics", "/api/v1/status", "/api/v1/runs"}) {
      EXPECT_EQ(get(server.port(), path).status, 200) << path;
    }
  }
}

TEST(HttpServer, EveryPathHasItsAnswer) {
  TestServer server;
  server.show(ready_snapshot());
  const struct {
    const char* path;
    int status;
    const char* type;
    const char* content;
  } cases[] = {
      {"/", 200, "text/html; charset=utf-8", "<title>trainwatch</title>"},
      {"/docs/rules/step_spike", 200, "text/plain; charset=utf-8", "step_spike"},
      {"/docs/rules/step_spike.md", 200, "text/plain; charset=utf-8", "step_spike"},
      {"/docs/prometheus", 200, "text/plain; charset=utf-8", "# With Prometheus"},
      {"/docs/prometheus.md", 200, "text/plain; charset=utf-8", "# With Prometheus"},
      {"/docs/", 200, "text/plain; charset=utf-8", "# "},
      {"/docs", 301, "application/json", "Moved Permanently"},
      {"/docs/api", 200, "text/plain; charset=utf-8", "# "},
      {"/docs/api/openapi.yaml", 200, "application/yaml", "openapi: 3"},
      {"/docs/api/", 404, "application/json", "Not Found"},
      {"/docs/../README.md", 404, "application/json", "Not Found"},
      {"/docs/self-alerts", 200, "text/plain; charset=utf-8", "_self/"},
      {"/docs/rules/nothing", 404, "application/json", "Not Found"},
      {"/page.js", 404, "application/json", "Not Found"},
      {"/assets/page.js", 404, "application/json", "Not Found"},
      {"/icon.svg", 200, "image/svg+xml", "<svg"},
      {"/metrics", 200, "text/plain; version=0.0.4; charset=utf-8", "trainwatch_steps_total 7\n"},
      {"/metrics?x=%zz", 200, "text/plain; version=0.0.4; charset=utf-8", "process_open_fds"},
      {"/-/healthy", 200, "text/plain; charset=utf-8", "healthy"},
      {"/-/ready", 200, "text/plain; charset=utf-8", "ready"},
      {"/api/v1/status", 200, "application/json", R"("version":"1.2.3")"},
      {"/api/v1/runs", 200, "application/json", R"({"runs":[{"job":"bert"}]})"},
      {"/api/v1/alerts", 200, "application/json", R"("epoch":"epoch-1")"},
      {"/api/v1/stream", 426, "application/json", "Upgrade Required"},
      {"/nothing/<here>", 404, "application/json", R"({"status":404,"error":"Not Found"})"},
      {"/web/../etc/passwd", 404, "application/json", "Not Found"},
      {"/index.html", 404, "application/json", "Not Found"},
  };
  for (const auto& row : cases) {
    const auto response = get(server.port(), row.path);
    EXPECT_EQ(response.status, row.status) << row.path;
    EXPECT_EQ(response.header("Content-Type"), row.type) << row.path;
    EXPECT_THAT(response.body, HasSubstr(row.content)) << row.path;
    EXPECT_THAT(response.body, Not(HasSubstr("<here>")));
    EXPECT_EQ(response.header("X-Content-Type-Options"), "nosniff");
    EXPECT_THAT(response.header("Content-Security-Policy"),
                AllOf(HasSubstr("default-src 'none'"), Not(HasSubstr("unsafe"))));
    EXPECT_EQ(response.header("X-Frame-Options"), "DENY");
    EXPECT_THAT(response.header("Cache-Control"), testing::AnyOf("no-store", "no-cache"));
  }
}

TEST(HttpServer, HeadIsGetWithoutTheBody) {
  TestServer server;
  for (const char* path : {"/", "/-/healthy", "/api/v1/alerts", "/nothing"}) {
    Wire wire(server.port());
    const std::string rest = std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    wire.send("HEAD " + rest + "GET " + rest);
    const auto head = read_response(wire, false);
    const auto full = read_response(wire);
    EXPECT_EQ(head.status, full.status) << path;
    EXPECT_EQ(head.header("Content-Length"), std::to_string(full.body.size())) << path;
  }
}

TEST(HttpServer, ReadyOnlyAfterTheFirstScan) {
  TestServer server;
  EXPECT_EQ(get(server.port(), "/-/ready").status, 503);
  EXPECT_EQ(get(server.port(), "/-/healthy").status, 200);
  EXPECT_EQ(get(server.port(), "/api/v1/status").body, "{\"ready\":false}\n");
  server.show(ready_snapshot());
  EXPECT_EQ(get(server.port(), "/-/ready").status, 200);
}

TEST(HttpServer, OnlyGetAndHead) {
  TestServer server;
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"}) {
    const auto response =
        ask(server.port(), std::string(method) + " /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(response.status, 405) << method;
    EXPECT_EQ(response.header("Allow"), "GET, HEAD") << method;
  }
}

TEST(HttpServer, MalformedAmbiguousOrTooLargeIsRefusedAndClosed) {
  TestServer server;
  const std::string start = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  const std::pair<std::string, int> cases[] = {
      {start + "Content-Length: 3\r\n\r\nabc", 400},
      {start + "Content-Length: 0\r\nContent-Length: 0\r\n\r\n", 400},
      {start + "Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello", 400},
      {start + "Content-Length: -1\r\n\r\n", 400},
      {start + "Content-Length: +0\r\n\r\n", 400},
      {start + "Content-Length: 99999999999999999999999\r\n\r\n", 400},
      {start + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {start + "Transfer-Encoding: chunked, gzip\r\n\r\n", 400},
      {start + "Transfer-Encoding: identity\r\n\r\n", 400},
      {start + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400},
      {start + "X: a\r\n  folded\r\n\r\n", 400},
      {start + "X : a\r\n\r\n", 400},
      {start + "X: a\nY: b\r\n\r\n", 400},
      {start + std::string("X: a\0b\r\n\r\n", 10), 400},
      {start + ": a\r\n\r\n", 400},
      {start + "Host: localhost\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
      {"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
      {"GET / HTTP/3.0\r\nHost: localhost\r\n\r\n", 505},
      {"GET /\r\n\r\n", 400},
      {"\x16\x03\x01\x02\r\n\r\n", 400},
      {"\r\n\r\n", 400},
      {"GET /" + std::string(5000, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 414},
      {"GET /" + std::string(20000, 'a'), 414},
      {start + "X: " + std::string(20000, 'a') + "\r\n\r\n", 431},
  };
  for (const auto& [request, status] : cases) {
    Wire wire(server.port());
    wire.send(request);
    const auto response = read_response(wire);
    EXPECT_EQ(response.status, status) << request.substr(0, 120);
    EXPECT_EQ(response.header("Connection"), "close") << request.substr(0, 120);
    EXPECT_TRUE(wire.at_end()) << request.substr(0, 120);
  }
  std::string many = start;
  for (int i = 0; i < 70; ++i) many += "X" + std::to_string(i) + ": a\r\n";
  EXPECT_EQ(ask(server.port(), many + "\r\n").status, 431);
  EXPECT_EQ(get(server.port(), "/-/healthy").status, 200);
}

TEST(HttpServer, KeepsConnectionsAndAnswersPipelinedRequests) {
  NetOptions options;
  options.limits.http.pipelined = 1000;
  TestServer server(options);
  Wire wire(server.port());
  const std::string request = "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n";
  std::string all;
  for (int i = 0; i < 100; ++i) all += request + "\r\n";
  wire.send(all + request + "Connection: close\r\n\r\n");
  for (int i = 0; i < 101; ++i) ASSERT_EQ(read_response(wire).status, 200) << i;
  EXPECT_TRUE(wire.at_end());
  Wire old(server.port());
  old.send("GET /-/healthy HTTP/1.0\r\n\r\n");
  EXPECT_EQ(read_response(old).status, 200);
  EXPECT_TRUE(old.at_end());
}

TEST(HttpServer, OnlyLoopbackNamesOnLoopback) {
  NetOptions options;
  options.allowed_hosts = {"box.example"};
  TestServer server(options);
  const auto ask_as = [&](const std::string& host) {
    return ask(server.port(), "GET /-/healthy HTTP/1.1\r\nHost: " + host + "\r\n\r\n").status;
  };
  for (const char* host : {"localhost", "LocalHost:9797", "127.0.0.1:1", "[::1]", "[::1]:9797",
                           "box.example", "Box.Example:80"}) {
    EXPECT_EQ(ask_as(host), 200) << host;
  }
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "",
                           "evil@localhost", "[::1].evil", "localhost:1:2", "10.0.0.1"}) {
    EXPECT_EQ(ask_as(host), 403) << host;
  }
}

TEST(HttpServer, MetricsByAccept) {
  TestServer server;
  server.show(ready_snapshot());
  const auto response = get(server.port(), "/metrics", "Accept: application/openmetrics-text\r\n");
  EXPECT_EQ(response.header("Content-Type"),
            "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_THAT(response.body, AllOf(HasSubstr("# TYPE trainwatch_steps counter\n"),
                                   HasSubstr("trainwatch_ws_subscribers 0\n")));
  EXPECT_TRUE(response.body.ends_with("# EOF\n"));
  get(server.port(), "/nothing");
  EXPECT_THAT(get(server.port(), "/metrics").body,
              AllOf(HasSubstr("trainwatch_http_requests_total{code_class=\"2xx\"} 1\n"),
                    HasSubstr("trainwatch_http_requests_total{code_class=\"4xx\"} 1\n")));
}

TEST(HttpServer, Alerts) {
  TestServer server({}, {.alerts = 2});
  server.publish({make_alert(1), make_alert(2), make_alert(3, "a"),
                  make_alert(4, "a", Severity::info, Alert::State::resolved), make_alert(5, "b")});
  server.prune(2);
  const std::string head = R"({"epoch":"epoch-1","first_seq":2,"last_seq":5,"alerts":[)";
  const auto json = [](std::uint64_t seq, const char* rule) { return make_alert(seq, rule)->json; };
  struct Case {
    const char* query;
    std::string alerts;
    int next;
  };
  const Case cases[] = {
      {"?after=5", "", 5},
      {"?after=0&limit=1", json(2, "step_spike"), 2},
      {"?after=3", json(4, "a") + "," + json(5, "b"), 5},
      {"?rule=a&state=firing", json(3, "a"), 5},
      {"?rule=b,step_spike", json(2, "step_spike") + "," + json(5, "b"), 5},
      {"?state=resolved", json(4, "a"), 5},
      {"?limit=0", "", 0},
  };
  for (const auto& [query, alerts, next] : cases) {
    EXPECT_EQ(get(server.port(), std::string("/api/v1/alerts") + query).body,
              head + alerts + "],\"next\":" + std::to_string(next) + "}\n")
        << query;
  }
  for (const char* query : {"?after=x", "?limit=-1", "?state=maybe", "?rules=a", "?after=%"}) {
    EXPECT_EQ(get(server.port(), std::string("/api/v1/alerts") + query).status, 400) << query;
  }
}

TEST(HttpServer, AssetsAreNotSentTwice) {
  TestServer server;
  const auto first = get(server.port(), "/");
  const auto etag = first.header("ETag");
  ASSERT_FALSE(etag.empty());
  EXPECT_EQ(first.header("Cache-Control"), "no-cache");
  const auto second = get(server.port(), "/", "If-None-Match: " + etag + "\r\n");
  EXPECT_EQ(second.status, 304);
  EXPECT_EQ(second.body, "");
  EXPECT_EQ(second.header("ETag"), etag);
  EXPECT_EQ(get(server.port(), "/", "If-None-Match: \"other\"\r\n").status, 200);
}

TEST(HttpServer, AssetsOfTheirOwnContentAreKeptForEver) {
  TestServer server;
  for (const WebAsset& asset : web_assets()) {
    const auto response = get(server.port(), std::string(asset.path));
    EXPECT_EQ(response.status, 200) << asset.path;
    EXPECT_EQ(response.body, asset.bytes) << asset.path;
    EXPECT_EQ(response.header("Content-Encoding"), "") << asset.path;
    const bool named_by_content =
        asset.path.find(asset.hash.substr(0, 16)) != std::string_view::npos;
    EXPECT_EQ(response.header("Cache-Control"),
              named_by_content ? "public, max-age=31536000, immutable" : "no-cache");
  }
}

TEST(HttpServer, AssetsAreCompressedForWhoAcceptsIt) {
  TestServer server;
  for (const WebAsset& asset : web_assets()) {
    if (asset.gzip.empty()) continue;  // built without the page
    const std::string path(asset.path);
    const auto plain = get(server.port(), path, "Accept-Encoding: br, gzip;q=0\r\n");
    const auto small = get(server.port(), path, "Accept-Encoding: br, gzip\r\n");
    EXPECT_EQ(plain.body, asset.bytes) << path;
    EXPECT_EQ(small.body, asset.gzip) << path;
    EXPECT_EQ(small.header("Content-Encoding"), "gzip");
    EXPECT_EQ(plain.header("Vary"), "Accept-Encoding");
    EXPECT_EQ(small.header("Vary"), "Accept-Encoding");
    EXPECT_NE(plain.header("ETag"), small.header("ETag"));
    const std::string known = "If-None-Match: " + small.header("ETag") + "\r\n";
    EXPECT_EQ(get(server.port(), path, known + "Accept-Encoding: gzip\r\n").status, 304);
    EXPECT_EQ(get(server.port(), path, known).status, 200) << "the other form is another one";
  }
}

TEST(AcceptEncoding, AllowsGzip) {
  for (const char* header : {"gzip", "GZIP", "deflate, gzip;q=0.5", "*", "br;q=1, *;q=0.1"})
    EXPECT_TRUE(accepts_gzip(header)) << header;
  for (const char* header : {"", "br", "gzip;q=0", "gzip;q=0, *", "identity", "gzip;q=x", "*;q=0"})
    EXPECT_FALSE(accepts_gzip(header)) << header;
}

// The limit is put at what is open already, so the connection waits in the kernel's queue until
// descriptors are to be had again.
TEST(HttpServer, SurvivesRunningOutOfFileDescriptors) {
  TestServer server;
  Wire wire(server.port());
  Wire waiting(server.port());
  wire.send("GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n");
  waiting.send("GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_EQ(read_response(wire).status, 200);
  ASSERT_EQ(read_response(waiting).status, 200);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  Wire late_client(0);  // a socket of our own, made before there are none
  const rlimit none{3, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  wire.send("GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(read_response(wire).status, 200);
  late_client.connect_to(server.port());
  late_client.send("GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n");
  wire.send("GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(read_response(wire).status, 200);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(read_response(late_client).status, 200);
}

TEST(HttpServer, SaysWhyItCannotListen) {
  boost::asio::io_context io(1);
  AlertHub hub("e");
  MemoryAlertStore store;
  NetOptions options;
  options.host = "no-such-host";
  EXPECT_THAT(NetServer(io, options, hub, store.api()).listen().error().message,
              HasSubstr("no-such-host"));
  TestServer other;
  options.host = "127.0.0.1";
  options.port = other.port();
  EXPECT_THAT(NetServer(io, options, hub, store.api()).listen().error().message,
              HasSubstr("in use"));
}

TEST(HttpServer, CloseEndsIdleConnections) {
  TestServer server;
  Wire wire(server.port());
  wire.send("GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(read_response(wire).status, 200);
  server.stop();
  EXPECT_TRUE(wire.at_end());
}

}  // namespace trainwatch::http_test
