// SPDX-License-Identifier: Apache-2.0
// Who may talk to trainwatch, and how: TLS, login, headers and a limit of requests, as the web
// configuration file says (daemon/config/web_config_file.h). Keys and meaning are those of
// Prometheus' exporter-toolkit. Plain values, made by the thread that reads files and used by the
// net thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainwatch/time.h"

namespace boost::asio::ssl {
class context;
}

namespace trainwatch {

// Go's names for what is asked of a client's certificate.
enum class ClientAuth : std::uint8_t {
  none,                // NoClientCert
  request,             // RequestClientCert: any, or none
  require_any,         // RequireAnyClientCert: any
  verify_if_given,     // VerifyClientCertIfGiven
  require_and_verify,  // RequireAndVerifyClientCert
};

struct TlsSettings {
  std::string cert;  // PEM, the whole chain
  std::string key;   // PEM
  ClientAuth client_auth = ClientAuth::none;
  std::optional<std::string> client_ca;  // PEM; absent: what the system trusts
  std::optional<std::vector<std::string>> client_allowed_sans;
  std::vector<std::string> ciphers;  // OpenSSL's names, up to TLS 1.2; see `only_tls13`
  bool only_tls13 = false;           // ciphers are named, and none for TLS 1.2
  std::string curves;                // OpenSSL's list; empty: its default
  int min_version;                   // TLS1_2_VERSION and so on
  int max_version;
  bool prefer_server_ciphers = true;
};

// A bucket of `burst` requests, to which one is added in each `interval`. 0: no limit.
struct RateLimit {
  Nanos interval{0};
  std::int64_t burst = 0;

  bool operator==(const RateLimit&) const = default;
};

struct Access {
  std::shared_ptr<boost::asio::ssl::context> tls;            // null: plain HTTP
  bool verifies_clients = false;                             // by a certificate of a named CA
  std::vector<std::pair<std::string, std::string>> headers;  // an empty value removes a default
  std::map<std::string, std::string, std::less<>> users;     // name -> bcrypt hash
  RateLimit rate;

  // Nobody is served who has not shown who he is.
  bool needs_login() const { return !users.empty() || verifies_clients; }
};

}  // namespace trainwatch
