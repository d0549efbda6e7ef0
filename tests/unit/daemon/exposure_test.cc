// SPDX-License-Identifier: Apache-2.0
// Who may reach trainwatch: catalogue case 81 (DNS rebinding, pages of other sites) and binding
// beyond loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/config/config.h"
#include "daemon/net/origin_guard.h"
#include "daemon/net/url.h"

namespace trainwatch::exposure_test {

HttpRequest from(const std::string& host, const std::string& origin = "") {
  HttpRequest request;
  request.headers.emplace_back("Host", host);
  if (!origin.empty()) request.headers.emplace_back("Origin", origin);
  return request;
}

TEST(Exposure, KnowsLoopback) {
  for (const char* host : {"localhost", "127.0.0.1", "127.1.2.3", "::1"}) {
    EXPECT_TRUE(is_loopback(host)) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "192.0.2.1", "localhost.example", "", "128.0.0.1"}) {
    EXPECT_FALSE(is_loopback(host)) << host;
  }
}

TEST(Exposure, OtherHostsNeedTheFlag) {
  WebConfig web;
  Access open;
  Access with_login;
  with_login.users["alice"] = "a hash";
  EXPECT_TRUE(check_exposure(web, open).ok());
  for (const char* address : {"0.0.0.0:9797", ":9797", "[::]:9797", "192.0.2.1:80"}) {
    web = {.listen_address = address, .config_file = "", .allowed_hosts = {}, .external_url = {}};
    EXPECT_TRUE(check_exposure(web, with_login).ok()) << address;
    EXPECT_THAT(check_exposure(web, open).error().message, testing::HasSubstr("--web.insecure"))
        << address;
    web.insecure = true;
    EXPECT_TRUE(check_exposure(web, open).ok()) << address;
  }
}

TEST(Exposure, BeyondLoopbackAHostIsAnAddressOrAllowed) {
  const OriginGuard guard(false, {"box.example"});
  for (const char* host : {"192.0.2.1:9797", "[2001:db8::1]:9797", "[::1]", "localhost", "10.1.2.3",
                           "box.example:9797", "BOX.example"}) {
    EXPECT_TRUE(guard.host_allowed(from(host))) << host;
  }
  for (const char* host : {"evil.example", "192.0.2.1.evil.example", "", "[evil]", "192.0.2.1@evil",
                           "box.example.evil", "192.0.2"}) {
    EXPECT_FALSE(guard.host_allowed(from(host))) << host;
  }
}

TEST(Exposure, BeyondLoopbackAStreamNeedsItsOrigin) {
  const OriginGuard guard(false, {});
  EXPECT_TRUE(guard.origin_allowed(from("192.0.2.1:9797", "http://192.0.2.1:9797")));
  EXPECT_FALSE(guard.origin_allowed(from("192.0.2.1:9797")));
  EXPECT_FALSE(guard.origin_allowed(from("192.0.2.1:9797", "http://192.0.2.1")));
  EXPECT_FALSE(guard.origin_allowed(from("192.0.2.1:9797", "http://evil.example")));
  EXPECT_FALSE(guard.origin_allowed(from("192.0.2.1:9797", "null")));
}

}  // namespace trainwatch::exposure_test
