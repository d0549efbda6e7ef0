// SPDX-License-Identifier: Apache-2.0
// Where a request goes: an http or https URL, taken apart.
#pragma once

#include <string>
#include <string_view>

#include "trainwatch/result.h"

namespace trainwatch {

struct HttpTarget {
  bool tls = false;
  std::string host;  // a name or an IP address, without brackets
  std::string port;  // a number
  std::string path;  // with the query, if any; "/" if the URL has none

  // For the header Host, and for messages: a path may be a secret.
  std::string authority() const;
};

// The target whose path is `path` below that of `target`.
HttpTarget below(HttpTarget target, std::string_view path);

// Fails for other schemes, user names in the URL, fragments, and bytes that do not belong into a
// URL. The error does not repeat the URL, which may contain a secret.
Result<HttpTarget> parse_http_url(std::string_view url);

}  // namespace trainwatch
