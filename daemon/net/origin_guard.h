// SPDX-License-Identifier: Apache-2.0
// Which browser requests are served: protection against DNS rebinding (Host) and against other
// sites' pages that open our WebSocket (Origin).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/net/http_message.h"
#include "daemon/net/url.h"

namespace trainwatch {

class OriginGuard {
 public:
  // Loopback names and `allowed_hosts` are served and, if not bound to loopback, IP addresses:
  // whoever has another name point here cannot use those.
  OriginGuard(bool loopback, std::vector<std::string> allowed_hosts)
      : loopback_(loopback), allowed_hosts_(std::move(allowed_hosts)) {
    for (const char* name : {"localhost", "127.0.0.1", "[::1]"}) allowed_hosts_.emplace_back(name);
  }

  bool host_allowed(const HttpRequest& request) const {
    if (request.count("Host") == 0) return true;
    const auto host = without_port(request.header("Host"));
    if (!loopback_ && is_ip_address(without_brackets(host))) return true;
    return std::any_of(allowed_hosts_.begin(), allowed_hosts_.end(),
                       [host](const auto& allowed) { return equals_ignoring_case(allowed, host); });
  }

  // For an upgrade. The Origin must be this very host; a client without one is not a browser and is
  // allowed on loopback, and if it has logged in.
  bool origin_allowed(const HttpRequest& request, bool logged_in = false) const {
    const auto origins = request.count("Origin");
    if (origins == 0) return loopback_ || logged_in;
    const auto origin = request.header("Origin");
    const auto scheme_end = origin.find("://");
    if (origins > 1 || scheme_end == std::string_view::npos) return false;
    return equals_ignoring_case(origin.substr(scheme_end + 3), request.header("Host"));
  }

 private:
  // "[::1]:9797" -> "[::1]", "localhost:9797" -> "localhost"
  static std::string_view without_port(std::string_view host) {
    const auto colon = host.rfind(':');
    const auto bracket = host.rfind(']');
    const bool has_port =
        colon != std::string_view::npos && (bracket == std::string_view::npos || bracket < colon);
    return has_port ? host.substr(0, colon) : host;
  }

  static std::string_view without_brackets(std::string_view host) {
    const bool bracketed = host.starts_with('[') && host.ends_with(']');
    return bracketed ? host.substr(1, host.size() - 2) : host;
  }

  bool loopback_;
  std::vector<std::string> allowed_hosts_;
};

}  // namespace trainwatch
