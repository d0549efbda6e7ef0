// SPDX-License-Identifier: Apache-2.0
#include "daemon/http_client/http_target.h"

#include <algorithm>
#include <charconv>

namespace trainwatch {
namespace {

bool is_port(std::string_view digits) {
  unsigned port = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, port);
  return failure == std::errc{} && stop == end && port > 0 && port <= 65535;
}

bool is_host(std::string_view host) {
  return !host.empty() && host.find_first_of("@[]\"\\<>^`{|}") == std::string_view::npos;
}

}  // namespace

std::string HttpTarget::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == (tls ? "443" : "80") ? name : name + ":" + port;
}

Result<HttpTarget> parse_http_url(std::string_view url) {
  const auto printable = [](char c) { return c > ' ' && c < '\x7f'; };
  if (!std::all_of(url.begin(), url.end(), printable) || url.find('#') != std::string_view::npos) {
    return Error{"the URL contains a character that does not belong there"};
  }
  HttpTarget target;
  target.tls = url.starts_with("https://");
  if (!target.tls && !url.starts_with("http://")) {
    return Error{"the URL must begin with http:// or https://"};
  }
  url.remove_prefix(url.find("//") + 2);
  const auto slash = std::min(url.find_first_of("/?"), url.size());
  const std::string_view authority = url.substr(0, slash);
  target.path = url.substr(slash);
  if (!target.path.starts_with('/')) target.path.insert(0, "/");

  const auto bracket = authority.find(']');
  const bool bracketed = authority.starts_with('[') && bracket != std::string_view::npos;
  const auto colon = authority.find(':', bracketed ? bracket : 0);
  target.host = bracketed ? authority.substr(1, bracket - 1) : authority.substr(0, colon);
  target.port = target.tls ? "443" : "80";
  if (colon != std::string_view::npos) target.port = authority.substr(colon + 1);
  if (bracketed && colon != std::string_view::npos && colon != bracket + 1) target.host.clear();
  if (!is_host(target.host)) return Error{"the URL has no valid host"};
  if (!is_port(target.port)) return Error{"the URL has an invalid port"};
  return target;
}

HttpTarget below(HttpTarget target, std::string_view path) {
  while (target.path.ends_with('/')) target.path.pop_back();
  target.path += path;
  return target;
}

}  // namespace trainwatch
