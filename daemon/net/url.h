// SPDX-License-Identifier: Apache-2.0
// Addresses as text: where to listen, the query of a request, the URL of a stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainwatch/result.h"

namespace trainwatch {

// "127.0.0.1:9797", "[::1]:9797", "localhost:0", ":9797" (all interfaces).
struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
};

Result<ListenAddress> parse_listen_address(std::string_view text);

// An IPv4 or IPv6 address, without brackets.
bool is_ip_address(std::string_view host);
// An address that only this host can reach, or "localhost".
bool is_loopback(std::string_view host);

// What follows the '?' of a request: names and values, percent-decoded.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;

// Fails if an escape is malformed or decodes to a control character.
Result<QueryParameters> parse_query(std::string_view query);

// Why a query is refused. The name of the parameter is quoted if it is valid text.
Error invalid_parameter(std::string_view name);

// All of `text` as a decimal number without sign.
std::optional<std::uint64_t> parse_unsigned(std::string_view text);

// "a,b,,c" -> a b c
std::vector<std::string> split_list(std::string_view text);

// The URL of a trainwatch's stream, taken apart.
struct StreamUrl {
  std::string host;  // "localhost", "::1"
  std::string port;
  std::string path;  // with the query, if any; "/api/v1/stream" when the URL has none
  bool tls = false;
  std::string user{};  // empty: none
  std::string password{};

  std::string authority() const;  // for Host:
  std::string origin() const;     // "https://localhost:9797"
  std::string page() const { return origin() + "/"; }
};

// ws://[user:password@]host[:port][/path], wss://, http:// or https://; without a scheme ws:// is
// meant. User and password are percent-decoded.
Result<StreamUrl> parse_stream_url(std::string_view url);

}  // namespace trainwatch
