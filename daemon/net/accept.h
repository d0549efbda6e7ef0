// SPDX-License-Identifier: Apache-2.0
// What a client accepts: the lists of Accept and Accept-Encoding (RFC 9110, 12.5).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainwatch {

struct AcceptedRange {
  std::string type;    // lower case: "text/plain", "gzip"
  double quality = 1;  // 0..1; 0 for what is malformed
  std::vector<std::pair<std::string, std::string>> parameters{};  // but "q"; names in lower case

  std::string_view parameter(std::string_view name) const;  // empty: it has none
};

std::vector<AcceptedRange> parse_accept(std::string_view header);

// Whether an Accept-Encoding allows gzip; without one it does not.
bool accepts_gzip(std::string_view header);

}  // namespace trainwatch
