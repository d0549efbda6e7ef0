// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/url.h"

#include <boost/asio/ip/address.hpp>
#include <charconv>

#include "trainwatch/valid_text.h"

namespace trainwatch {
namespace {

// `form`: as in a query, where '+' is a space.
std::optional<std::string> decode(std::string_view text, bool form = true) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && form) c = ' ';
    if (c == '%') {
      unsigned code = 0;
      if (i + 2 >= text.size()) return std::nullopt;
      const char* end = text.data() + i + 3;
      if (std::from_chars(text.data() + i + 1, end, code, 16).ptr != end) return std::nullopt;
      c = static_cast<char>(code);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
    out += c;
  }
  return out;
}

// Takes the part of `rest` up to `separator` off it.
std::string_view take_part(std::string_view& rest, char separator) {
  const auto part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  return part;
}

std::string_view default_port(bool tls) {
  return tls ? "443" : "80";
}

// "user:password" or "user"; false if it cannot be decoded.
bool take_user(std::string_view text, StreamUrl& parts) {
  const auto colon = text.find(':');
  const auto user = decode(text.substr(0, colon), false);
  const auto password =
      decode(colon == std::string_view::npos ? "" : text.substr(colon + 1), false);
  if (!user || user->empty() || !password) return false;
  parts.user = *user;
  parts.password = *password;
  return true;
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const Error malformed{"listen address '" + std::string(text) + "' is not HOST:PORT"};
  if (colon == std::string_view::npos) return malformed;
  ListenAddress address;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (failure != std::errc{} || end != digits.data() + digits.size()) return malformed;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  address.host = host.empty() ? "0.0.0.0" : std::string(host);
  return address;
}

bool is_ip_address(std::string_view host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(std::string(host), error);
  return !error;
}

bool is_loopback(std::string_view host) {
  if (host == "localhost") return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(std::string(host), error);
  return !error && address.is_loopback();
}

Result<QueryParameters> parse_query(std::string_view query) {
  QueryParameters parameters;
  while (!query.empty()) {
    auto value = take_part(query, '&');
    if (value.empty()) continue;
    const auto name = take_part(value, '=');
    auto decoded_name = decode(name);
    auto decoded_value = decode(value);
    if (!decoded_name || !decoded_value)
      return Error{"the query has an invalid escape or a control character"};
    parameters.emplace_back(std::move(*decoded_name), std::move(*decoded_value));
  }
  return parameters;
}

Error invalid_parameter(std::string_view name) {
  const std::string quoted = is_valid_text(name) ? " '" + std::string(name) + "'" : "";
  return {"the parameter" + quoted + " is unknown, or its value is not valid"};
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const auto item = take_part(text, ',');
    if (!item.empty()) items.emplace_back(item);
  }
  return items;
}

std::string StreamUrl::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == default_port(tls) ? name : name + ":" + port;
}

std::string StreamUrl::origin() const {
  return (tls ? "https://" : "http://") + authority();
}

Result<StreamUrl> parse_stream_url(std::string_view url) {
  std::string_view rest = url;
  StreamUrl parts;
  if (const auto end = rest.find("://"); end != std::string_view::npos) {
    const auto scheme = rest.substr(0, end);
    parts.tls = scheme == "wss" || scheme == "https";
    if (!parts.tls && scheme != "ws" && scheme != "http")
      return Error{"the URL must begin with ws://, wss://, http:// or https://"};
    rest.remove_prefix(end + 3);
  }
  const auto slash = rest.find('/');
  auto authority = rest.substr(0, slash);
  parts.path = slash == std::string_view::npos ? "" : rest.substr(slash);
  if (parts.path.empty() || parts.path == "/") parts.path = "/api/v1/stream";

  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    if (!take_user(authority.substr(0, at), parts)) return Error{"the URL has an invalid user"};
    authority.remove_prefix(at + 1);
  }
  const auto bracket = authority.find(']');
  const bool bracketed = authority.starts_with('[') && bracket != std::string_view::npos;
  const auto colon = authority.find(':', bracketed ? bracket : 0);
  parts.host = bracketed ? authority.substr(1, bracket - 1) : authority.substr(0, colon);
  parts.port =
      colon == std::string_view::npos ? default_port(parts.tls) : authority.substr(colon + 1);
  const auto port = parse_unsigned(parts.port);
  if (parts.host.empty()) return Error{"the URL has no host"};
  if (!port || *port == 0 || *port > 65535) return Error{"the URL has an invalid port"};
  return parts;
}

}  // namespace trainwatch
