// SPDX-License-Identifier: Apache-2.0
// The text of the web configuration file: what is accepted, and where each mistake is.
// tests/e2e/web_config_test.py compares with promtool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "daemon/config/web_config_file.h"

namespace trainwatch::web_config_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* kHash = "$2y$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u";

WebConfigText read(const std::string& text) {
  const auto config = parse_web_config(text, "web.yml");
  EXPECT_TRUE(config.ok()) << (config.ok() ? "" : config.error().message);
  return config.ok() ? *config : WebConfigText{};
}

std::string mistake(const std::string& text) {
  const auto config = parse_web_config(text, "web.yml");
  return config.ok() ? "accepted" : config.error().message;
}

TEST(WebConfig, NothingIsPlainHttpForEverybody) {
  for (const char* text : {"", "# nothing\n", "tls_server_config:\n", "basic_auth_users: {}\n"}) {
    const auto config = read(text);
    EXPECT_FALSE(config.has_tls) << text;
    EXPECT_FALSE(config.access.needs_login()) << text;
  }
}

TEST(WebConfig, ReadsEveryKey) {
  const auto config = read(std::string(R"(
tls_server_config:
  cert_file: server.crt
  key_file: /etc/server.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.pem
  client_allowed_sans: [prometheus.example, 10.0.0.1]
  min_version: TLS13
  max_version: TLS13
  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_AES_128_GCM_SHA256]
  prefer_server_cipher_suites: no
  curve_preferences: [X25519, CurveP256]
http_server_config:
  http2: false
  headers:
    X-Frame-Options: sameorigin
    Content-Security-Policy: ""
    X-XSS-Protection: 1
basic_auth_users:
  alice: )") + kHash + R"(
rate_limit: {interval: 100ms, burst: 20}
)");
  EXPECT_TRUE(config.has_tls);
  EXPECT_EQ(config.cert_file, "server.crt");
  EXPECT_EQ(config.key_file, "/etc/server.key");
  EXPECT_EQ(config.tls.client_auth, ClientAuth::require_and_verify);
  EXPECT_EQ(config.client_ca_file, "ca.pem");
  EXPECT_THAT(config.tls.client_allowed_sans.value(),
              ElementsAre("prometheus.example", "10.0.0.1"));
  EXPECT_EQ(config.tls.min_version, TLS1_3_VERSION);
  EXPECT_THAT(config.tls.ciphers, ElementsAre("ECDHE-RSA-AES128-GCM-SHA256"));
  EXPECT_FALSE(config.tls.prefer_server_ciphers);
  EXPECT_EQ(config.tls.curves, "X25519:P-256");
  EXPECT_THAT(config.access.headers,
              ElementsAre(Pair("X-Frame-Options", "sameorigin"),
                          Pair("Content-Security-Policy", ""), Pair("X-XSS-Protection", "1")));
  EXPECT_THAT(config.access.users, ElementsAre(Pair("alice", kHash)));
  EXPECT_EQ(config.access.rate.interval, std::chrono::milliseconds(100));
  EXPECT_EQ(config.access.rate.burst, 20);
  EXPECT_TRUE(config.access.verifies_clients);
}

TEST(WebConfig, MistakesHaveTheirLine) {
  const std::string tls = "tls_server_config:\n  cert_file: a\n  key_file: b\n";
  const std::pair<std::string, const char*> kMistakes[] = {
      {"tls_server_config:\n  cert_filse: a\n", "web.yml:2: tls_server_config.cert_filse: unknown"},
      {"tls_server_config:\n  cert_file: a\n", "web.yml:2: tls_server_config: key_file or key"},
      {"tls_server_config:\n  key_file: a\n", "cert_file or cert is missing"},
      {tls + "  client_auth_type: Maybe\n", "unknown type 'Maybe'"},
      {tls + "  client_ca_file: c\n", "no effect without client_auth_type"},
      {tls + "  client_allowed_sans: [a]\n", "client_allowed_sans needs client_auth_type"},
      {tls + "  min_version: TLS111\n", "web.yml:4: tls_server_config.min_version: 'TLS111'"},
      {tls + "  cipher_suites: [TLS_X]\n", "unknown cipher 'TLS_X'"},
      {tls + "  cipher_suites: TLS_X\n", "must be a list"},
      {tls + "  curve_preferences: [CurveP257]\n", "unknown curve"},
      {tls + "  prefer_server_cipher_suites: \"true\"\n", "neither true nor false"},
      {"http_server_config: {headers: {Content-Type: a}}\n", "cannot be set"},
      {"http_server_config: {headers: {X-Frame-Options: foo}}\n", "'foo' is not allowed"},
      {"basic_auth_users:\n  john: doe\n", "web.yml:2: basic_auth_users.john: is too short"},
      {"basic_auth_users: [a]\n", "must be a map"},
      {"basic_auth_users:\n  a: x\n  a: y\n", "web.yml:3: basic_auth_users.a: appears twice"},
      {"rate_limit: {interval: soon}\n", "is not a duration"},
      {"junk\n", "web.yml:1: must be a map"},
      {"a: [\n", "web.yml:2"},
  };
  for (const auto& [text, expected] : kMistakes) {
    EXPECT_THAT(mistake(text), HasSubstr(expected)) << text;
  }
}

TEST(WebConfig, AHeaderIsOneLine) {
  const auto config =
      read("http_server_config: {headers: {X-XSS-Protection: \"1\\r\\nSet-Cookie: a=b\"}}\n");
  EXPECT_EQ(config.access.headers.at(0).second, "1  Set-Cookie: a=b");
}

}  // namespace trainwatch::web_config_test
