// SPDX-License-Identifier: Apache-2.0
#include "daemon/http_client/http_client.h"

#include <gtest/gtest.h>

#include "daemon/http_client/retry_after.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/daemon/tiny_http_server.h"

namespace trainwatch {
namespace {

using namespace std::chrono_literals;
using Answer = TinyHttpServer::Answer;

Answer ok(const std::string& body = "fine") {
  return {"HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body};
}

HttpClientOptions options_for(const TinyHttpServer& server, const std::string& scheme = "http",
                              const std::string& host = "127.0.0.1") {
  return {.target = *parse_http_url(scheme + "://" + host + ":" + server.port() + "/hook?a=b"),
          .user_agent = "trainwatch/test"};
}

class HttpClientTest : public testing::Test {
 protected:
  Result<ReceivedResponse> post(HttpClient& client, const std::string& body) {
    std::optional<Result<ReceivedResponse>> found;
    client.post({.body = body, .headers = {{"Idempotency-Key", "k1"}}},
                [&found](Result<ReceivedResponse> reply) { found = std::move(reply); });
    EXPECT_TRUE(client.busy());
    EXPECT_FALSE(found) << "called within post()";
    io_.restart();
    while (!found && io_.run_one() > 0) {
    }
    return found ? std::move(*found) : Error{"never called"};
  }
  Result<ReceivedResponse> post_once(HttpClientOptions options, const std::string& body = "{}") {
    HttpClient client(io_, resolver_, std::move(options));
    return post(client, body);
  }
  std::string error_of(const Result<ReceivedResponse>& reply) {
    return reply ? "status " + std::to_string(reply->status) : reply.error().message;
  }

  boost::asio::io_context io_{1};
  HostResolver resolver_{io_};
};

TEST_F(HttpClientTest, PostsBodyAndHeaders) {
  std::string seen;
  TinyHttpServer server([&](const std::string& request, int) {
    seen = request;
    return ok();
  });
  const auto reply = post_once(options_for(server), R"({"a":1})");
  ASSERT_TRUE(reply) << error_of(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "fine");
  EXPECT_EQ(seen, "POST /hook?a=b HTTP/1.1\r\nHost: 127.0.0.1:" + server.port() +
                      "\r\nUser-Agent: trainwatch/test\r\nContent-Type: application/json\r\n"
                      "Idempotency-Key: k1\r\nContent-Length: 7\r\n\r\n{\"a\":1}");
}

TEST_F(HttpClientTest, ReusesTheConnection) {
  std::atomic<int> connections = 0;
  TinyHttpServer server([&](const std::string&, int earlier) {
    if (earlier == 0) ++connections;
    return ok(std::to_string(earlier));
  });
  HttpClient client(io_, resolver_, options_for(server));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(post(client, "{}")->body, std::to_string(i));
  EXPECT_EQ(connections, 1);
}

TEST_F(HttpClientTest, SendsAgainIfAKeptConnectionWasClosed) {
  TinyHttpServer server([](const std::string&, int) {
    auto answer = ok();
    answer.close = true;  // without having said so
    return answer;
  });
  HttpClient client(io_, resolver_, options_for(server));
  for (int i = 0; i < 3; ++i) {
    const auto reply = post(client, "{}");
    EXPECT_TRUE(reply) << error_of(reply);
  }
}

TEST_F(HttpClientTest, ReadsPastInterimResponses) {
  int requests = 0;
  TinyHttpServer server([&requests](const std::string&, int) {
    std::string interim;
    for (int i = 0; i < requests; ++i)
      interim += i % 2 == 0 ? "HTTP/1.1 100 Continue\r\n\r\n"
                            : "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
    Answer answer = ok(std::to_string(requests++));
    answer.bytes = interim + answer.bytes;
    return answer;
  });
  HttpClient client(io_, resolver_, options_for(server));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(post(client, "{}")->body, std::to_string(i));
}

TEST_F(HttpClientTest, OnlyInterimResponsesAreNone) {
  TinyHttpServer server([](const std::string&, int) {
    std::string interim;
    for (int i = 0; i < 20; ++i) interim += "HTTP/1.1 100 Continue\r\n\r\n";
    return Answer{interim};
  });
  EXPECT_THAT(error_of(post_once(options_for(server))), testing::HasSubstr("only interim"));
}

TEST_F(HttpClientTest, AResponseTooManyAnswersNoOtherRequest) {
  TinyHttpServer server([](const std::string& request, int) {
    const std::string body = request.substr(request.find("\r\n\r\n") + 4);
    Answer answer = ok(body);
    answer.bytes += "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstale";
    return answer;
  });
  HttpClient client(io_, resolver_, options_for(server));
  for (const std::string body : {"1", "2", "3"}) EXPECT_EQ(post(client, body)->body, body);
}

TEST_F(HttpClientTest, ReportsStatusAndRetryAfter) {
  TinyHttpServer server([](const std::string&, int) {
    return Answer{"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"};
  });
  const auto reply = post_once(options_for(server));
  ASSERT_TRUE(reply) << error_of(reply);
  EXPECT_EQ(reply->status, 429);
  EXPECT_EQ(reply->retry_after, "7");
}

TEST_F(HttpClientTest, ReadsALimitedBody) {
  TinyHttpServer server([](const std::string&, int) { return ok(std::string(100'000, 'x')); });
  auto options = options_for(server);
  options.limits.response_bytes = 1000;
  const auto reply = post_once(options);
  ASSERT_TRUE(reply) << error_of(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_LE(reply->body.size(), 1000U);
}

TEST_F(HttpClientTest, GivesUpOnASilentServer) {
  TinyHttpServer server([](const std::string&, int) { return Answer{""}; });
  auto options = options_for(server);
  options.limits.response = 50ms;
  EXPECT_EQ(error_of(post_once(options)),
            "no response from 127.0.0.1:" + server.port() + ": timed out");
}

TEST_F(HttpClientTest, GivesUpOnAServerThatTrickles) {
  TinyHttpServer server([](const std::string&, int) { return Answer{"HTTP/1.1 200 OK\r\nX"}; });
  auto options = options_for(server);
  options.limits.response = 50ms;
  EXPECT_EQ(error_of(post_once(options)),
            "no response from 127.0.0.1:" + server.port() + ": timed out");
}

TEST_F(HttpClientTest, SaysWhyItCannotConnect) {
  std::string port;
  {
    TinyHttpServer gone([](const std::string&, int) { return ok(); });
    port = gone.port();
  }
  const HttpClientOptions options{.target =
                                      *parse_http_url("http://127.0.0.1:" + port + "/s3cr3t")};
  EXPECT_EQ(error_of(post_once(options)),
            "cannot connect to 127.0.0.1:" + port + ": Connection refused");
  const HttpClientOptions unknown{.target = *parse_http_url("http://no-such-host.invalid/s3cr3t")};
  EXPECT_TRUE(error_of(post_once(unknown)).starts_with("cannot find host no-such-host.invalid: "));
}

TEST_F(HttpClientTest, ResolvesNames) {
  TinyHttpServer server([](const std::string&, int) { return ok(); });
  const auto reply = post_once(options_for(server, "http", "localhost"));
  EXPECT_TRUE(reply) << error_of(reply);
}

TEST_F(HttpClientTest, RejectsWhatIsNotHttp) {
  TinyHttpServer server(
      [](const std::string&, int) { return Answer{"220 mail.example ESMTP\r\n"}; });
  EXPECT_TRUE(error_of(post_once(options_for(server))).starts_with("no response from 127.0.0.1:"));
}

TEST_F(HttpClientTest, CallsNothingAfterItIsGone) {
  TinyHttpServer server([](const std::string&, int) { return Answer{""}; });
  bool called = false;
  {
    HttpClient client(io_, resolver_, options_for(server));
    client.post({.body = "{}"}, [&called](const Result<ReceivedResponse>&) { called = true; });
    for (int i = 0; i < 4; ++i) io_.run_one();
  }
  io_.restart();
  io_.run();  // ends at once: the connection is closed
  EXPECT_FALSE(called);
}

TEST_F(HttpClientTest, SendsCredentials) {
  std::string seen;
  TinyHttpServer server([&](const std::string& request, int) {
    seen = request;
    return ok();
  });
  const test::TempDirectory directory;
  const std::string file = directory.path() + "/secret";
  std::ofstream(file) << "open sesame\n";
  auto options = options_for(server);
  options.credentials.username = "Aladdin";
  options.credentials.password_file = file;
  ASSERT_TRUE(post_once(options));
  EXPECT_NE(seen.find("Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"), std::string::npos);
  options.credentials = {.bearer_token_file = file};
  ASSERT_TRUE(post_once(options));
  EXPECT_NE(seen.find("Authorization: Bearer open sesame\r\n"), std::string::npos);
  std::ofstream(file) << "two\nlines\n";
  EXPECT_EQ(error_of(post_once(options)),
            file + ": contains a line break or another control character");
  options.credentials.bearer_token_file += "-gone";
  EXPECT_EQ(error_of(post_once(options)), file + "-gone: cannot be read");
}

class HttpsClientTest : public HttpClientTest {
 protected:
  const test::TempDirectory directory_;
  const SelfSigned identity_{directory_.path(), "watch.example"};
  TinyHttpServer server_{[](const std::string&, int) { return ok("over TLS"); }, identity_.cert,
                         identity_.key};
};

TEST_F(HttpsClientTest, TrustsTheChosenAuthority) {
  auto options = options_for(server_, "https");
  options.tls.ca_file = identity_.cert;
  HttpClient client(io_, resolver_, options);
  for (int i = 0; i < 3; ++i) {
    const auto reply = post(client, "{}");
    ASSERT_TRUE(reply) << error_of(reply);
    EXPECT_EQ(reply->body, "over TLS");
  }
}

TEST_F(HttpsClientTest, RefusesAnUnknownAuthority) {
  const auto options = options_for(server_, "https");
  EXPECT_EQ(error_of(post_once(options)),
            "no TLS with 127.0.0.1:" + server_.port() +
                ": its certificate is not trusted: self-signed certificate");
}

TEST_F(HttpsClientTest, RefusesACertificateForAnotherName) {
  auto options = options_for(server_, "https");
  options.tls.ca_file = identity_.cert;
  options.tls.server_name = "other.example";
  EXPECT_EQ(error_of(post_once(options)),
            "no TLS with 127.0.0.1:" + server_.port() + ": its certificate is for another name");
  options.tls.server_name = "watch.example";
  EXPECT_TRUE(post_once(options));
}

TEST_F(HttpsClientTest, SkipsTheCheckIfAskedTo) {
  auto options = options_for(server_, "https");
  options.tls.insecure_skip_verify = true;
  const auto reply = post_once(options);
  EXPECT_TRUE(reply) << error_of(reply);
}

TEST_F(HttpsClientTest, SaysWhichFileCannotBeUsed) {
  auto options = options_for(server_, "https");
  options.tls.ca_file = directory_.path() + "/none.pem";
  EXPECT_TRUE(error_of(post_once(options)).starts_with(options.tls.ca_file + " cannot be used: "));
}

TEST_F(HttpsClientTest, GivesUpOnAServerThatDoesNotSpeakTls) {
  TinyHttpServer plain([](const std::string&, int) { return ok(); });
  auto options = options_for(plain, "https");
  options.limits.handshake = 100ms;
  EXPECT_TRUE(error_of(post_once(options)).starts_with("no TLS with 127.0.0.1:"));
}

TEST(HttpTargetTest, TakesUrlsApart) {
  const auto parsed = parse_http_url("https://[::1]:8443/a/b?c=d");
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->tls);
  EXPECT_EQ(parsed->host, "::1");
  EXPECT_EQ(parsed->authority(), "[::1]:8443");
  EXPECT_EQ(parsed->path, "/a/b?c=d");
  EXPECT_EQ(parse_http_url("http://host")->path, "/");
  EXPECT_EQ(parse_http_url("http://host?x")->path, "/?x");
  EXPECT_EQ(parse_http_url("http://host:80/")->authority(), "host");
  EXPECT_EQ(parse_http_url("https://host")->port, "443");
  for (const char* bad :
       {"", "host", "ftp://host", "http://", "http://:80", "http://a b/", "http://user:pass@host/",
        "http://host:0/", "http://host:65536/", "http://host:8x/", "http://host/#x", "http://[::1/",
        "http://[::1]x:1/", "http://host/\r\nX: y"}) {
    EXPECT_FALSE(parse_http_url(bad)) << bad;
  }
}

TEST(RetryAfterTest, ReadsSecondsAndDates) {
  const auto now = std::chrono::system_clock::from_time_t(784111777);  // Sun, 06 Nov 1994 08:49:37
  EXPECT_EQ(parse_retry_after("120", now), 120s);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:07 GMT", now), 30s);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:40:00 GMT", now), 0s);
  EXPECT_EQ(parse_retry_after("999999999", now), 3600s);
  for (const char* bad : {"", "-1", "soon", "12 s", "99999999999999"}) {
    EXPECT_EQ(parse_retry_after(bad, now), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace trainwatch
