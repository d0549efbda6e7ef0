#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <streambuf>

#include "daemon/net/follow_client.h"
#include "daemon/net/stream_url.h"
#include "tests/unit/daemon/net_fixture.h"

namespace trainwatch {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// A stream that can be read while another thread writes it.
class LineBuffer : public std::streambuf {
 public:
  std::string wait_for(std::size_t lines) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] {
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

TEST(Follow, SaysWhatItCannotDo) {
  std::ostringstream out;
  std::ostringstream err;
  FollowOptions options;
  options.out = &out;
  options.err = &err;
  for (const char* url : {"https://x", "ftp://x", "", "ws://", "ws://x:0", "ws://x:a"}) {
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
}

}  // namespace
}  // namespace trainwatch
