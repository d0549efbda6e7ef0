// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <streambuf>

#include "commands/commands.h"
#include "daemon/net/url.h"
#include "tests/unit/daemon/net_fixture.h"

namespace trainwatch::follow_test {

using std::chrono::milliseconds;
using testing::HasSubstr;

// A stream that can be read while another thread writes it.
class LineBuffer : public std::streambuf {
 public:
  std::string wait_for(std::size_t lines) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] {
      return static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')) >= lines;
    });
    return text_;
  }

 protected:
  int overflow(int c) override {
    const char byte = static_cast<char>(c);
    xsputn(&byte, 1);
    return c;
  }
  std::streamsize xsputn(const char* s, std::streamsize n) override {
    const std::lock_guard lock(mutex_);
    text_.append(s, static_cast<std::size_t>(n));
    changed_.notify_all();
    return n;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

TEST(Follow, PrintsResumesAndStops) {
  LineBuffer out_text;
  LineBuffer err_text;
  std::ostream out(&out_text);
  std::ostream err(&err_text);
  int code = -1;
  std::optional<TestServer> server;
  server.emplace(NetOptions{});
  const auto port = server->port();
  server->publish(1, 3);
  std::jthread thread([&](std::stop_token stop) {
    FollowOptions options;
    options.url = "http://127.0.0.1:" + std::to_string(port);
    options.after = 1;
    options.out = &out;
    options.err = &err;
    options.stop = stop;
    options.first_wait = milliseconds(5);
    code = follow(options);
  });
  EXPECT_EQ(out_text.wait_for(2), make_alert(2)->json + "\n" + make_alert(3)->json + "\n");
  server->publish(4, 4);
  EXPECT_THAT(out_text.wait_for(3), HasSubstr(make_alert(4)->json + "\n"));
  server.reset();
  EXPECT_THAT(err_text.wait_for(1), HasSubstr("connection lost"));
  thread.request_stop();
  thread.join();
  EXPECT_EQ(code, 0);
}

// `follow` in a thread of its own, with what it said.
class Following {
 public:
  Following(std::uint16_t port, FollowOptions options) {
    options.url = "http://127.0.0.1:" + std::to_string(port);
    options.out = &out_;
    options.err = &err_;
    options.first_wait = milliseconds(5);
    options.last_wait = milliseconds(20);
    thread_ = std::jthread([this, options](const std::stop_token& stop) mutable {
      options.stop = stop;
      EXPECT_EQ(follow(options), 0);
    });
  }
  std::string out(std::size_t lines) { return out_text_.wait_for(lines); }
  std::string err(std::size_t lines) { return err_text_.wait_for(lines); }

 private:
  LineBuffer out_text_;
  LineBuffer err_text_;
  std::ostream out_{&out_text_};
  std::ostream err_{&err_text_};
  std::jthread thread_;  // last: it writes to the others
};

FollowOptions under_name(const std::string& name) {
  FollowOptions options;
  options.name = name;
  return options;
}

std::string lines(std::uint64_t first, std::uint64_t last) {
  std::string text;
  for (auto seq = first; seq <= last; ++seq) text += make_alert(seq)->json + "\n";
  return text;
}

bool pager_has(const MemoryAlertStore& store, std::uint64_t seq) {
  const auto known = store.acknowledged.find("pager");
  return known != store.acknowledged.end() && known->second == seq;
}

// Under a name it acknowledges what it printed, so the next one with the name goes on there. A
// thousand alerts are acknowledged in a few messages: the server allows 20 in a second.
TEST(Follow, UnderANameGoesOnWhereItWas) {
  NetOptions options;
  options.limits.ws.acks = milliseconds(5);
  TestServer server(options);
  server.publish(1, 2);
  {
    Following first(server.port(), under_name("pager"));
    ASSERT_TRUE(server.store_becomes([](const auto& a) { return pager_has(a, 2); }));
    server.publish(3, 1000);
    EXPECT_EQ(first.out(998), lines(3, 1000));
    EXPECT_TRUE(server.store_becomes([](const auto& a) { return pager_has(a, 1000); }));
    EXPECT_EQ(first.err(0), "");
  }
  server.publish(1001, 1003);
  Following second(server.port(), under_name("pager"));
  EXPECT_EQ(second.out(3), lines(1001, 1003));
}

// A server that comes back on the same store, then one that counts anew.
TEST(Follow, ComesBackAfterRestartsOfTheServer) {
  std::optional<TestServer> server;
  server.emplace();
  const auto port = server->port();
  server->publish(1, 3);
  FollowOptions options = under_name("pager");
  options.after = 1;
  Following following(port, options);
  EXPECT_EQ(following.out(2), lines(2, 3));
  server->publish_provisional({make_provisional("p")});  // moves no place
  const auto before = lines(2, 3) + R"({"provisional":true,"id":"p","rule":"step_spike"})" + "\n";
  EXPECT_EQ(following.out(3), before);
  auto kept = server->alert_store([](const auto& store) { return store; });
  server.reset();
  EXPECT_THAT(following.err(1), HasSubstr("connection lost"));
  kept.store(make_alerts(4, 5));
  server.emplace(NetOptions{}, WindowLimits{}, kept, port);
  EXPECT_EQ(following.out(5), before + lines(4, 5));
  server.reset();
  MemoryAlertStore other;
  other.epoch = "epoch-2";
  other.store(make_alerts(1, 2));
  server.emplace(NetOptions{}, WindowLimits{}, other, port);
  EXPECT_EQ(following.out(7), before + lines(4, 5) + lines(1, 2));
  EXPECT_THAT(following.err(0),
              HasSubstr("reset: the server started a new sequence, epoch epoch-2"));
}

// A name that has printed nothing yet still notices that the server counts anew.
TEST(Follow, ANewEpochIsSentFromItsBeginning) {
  std::optional<TestServer> server;
  server.emplace();
  const auto port = server->port();
  Following following(port, under_name("pager"));
  ASSERT_TRUE(server->store_becomes([](const auto& a) { return pager_has(a, 0); }));
  server->publish_provisional({make_provisional("p")});
  EXPECT_EQ(following.out(1), R"({"provisional":true,"id":"p","rule":"step_spike"})"
                              "\n");
  server.reset();
  MemoryAlertStore other;
  other.epoch = "epoch-2";
  other.store(make_alerts(1, 2));
  server.emplace(NetOptions{}, WindowLimits{}, other, port);
  EXPECT_THAT(following.out(3), HasSubstr(lines(1, 2)));
}

TEST(Follow, SaysWhatItCannotDo) {
  std::ostringstream out;
  std::ostringstream err;
  FollowOptions options;
  options.out = &out;
  options.err = &err;
  for (const char* url : {"ftp://x", "", "ws://", "wss://", "ws://x:0", "ws://x:a"}) {
    options.url = url;
    EXPECT_EQ(follow(options), 2) << url;
  }
  TestServer server;
  options.url = "ws://127.0.0.1:" + std::to_string(server.port()) + "/api/v1/other";
  EXPECT_EQ(follow(options), 1);
  EXPECT_THAT(err.str(), HasSubstr("status 404"));
}

TEST(StreamUrl, TakesApart) {
  const auto check = [](const char* url, const char* host, const char* port, const char* path) {
    const auto parts = parse_stream_url(url);
    ASSERT_TRUE(parts) << url;
    EXPECT_EQ(parts->host, host) << url;
    EXPECT_EQ(parts->port, port) << url;
    EXPECT_EQ(parts->path, path) << url;
  };
  check("localhost:9797", "localhost", "9797", "/api/v1/stream");
  check("http://box/", "box", "80", "/api/v1/stream");
  check("ws://[::1]:9797/a?b=c", "::1", "9797", "/a?b=c");
  check("ws://[::1]", "::1", "80", "/api/v1/stream");
  EXPECT_EQ(parse_stream_url("ws://[::1]:9797")->authority(), "[::1]:9797");
  EXPECT_EQ(parse_stream_url("ws://box")->authority(), "box");
  check("https://al%40ice:a+b%3A@box", "box", "443", "/api/v1/stream");
  const auto secure = parse_stream_url("wss://al%40ice:a+b%3A@box");
  EXPECT_TRUE(secure->tls);
  EXPECT_EQ(secure->user, "al@ice");
  EXPECT_EQ(secure->password, "a+b:");
  EXPECT_EQ(secure->origin(), "https://box");
  EXPECT_FALSE(parse_stream_url("ws://:secret@box"));
}

// What a person sees: alerts above a line that says what the run is doing.
TEST(Follow, AsTextShowsAlertsAndTheStateLine) {
  NetOptions net;
  net.limits.ws.status = milliseconds(5);
  TestServer server(net);
  FollowOptions options;
  options.text = true;
  options.after = 0;
  options.out_style = {true, true, false, 100};
  Following following(server.port(), options);
  Snapshot snapshot;
  snapshot.status_json = R"({"ready":true})";
  snapshot.runs_json =
      R"({"now":"2026-11-24T13:00:00.000000Z","monitor":"Monitoring is impaired: x.","runs":[)"
      R"({"job":"a","state":"running","headline":{"text":"Running: 4.2 steps/s.","since":null}}]})";
  server.publish(1, 1);
  server.show(snapshot);
  EXPECT_EQ(following.out(2).substr(0, 55),
            "INFO since an unknown time:\nMonitoring is impaired: x.\n");
  server.publish(2, 2);
  EXPECT_THAT(following.out(3),
              HasSubstr("Monitoring is impaired: x.\n[monitoring impaired] Running: 4.2 steps/s."
                        "\r\x1b[KINFO since an unknown time:\n"));
}

}  // namespace trainwatch::follow_test
