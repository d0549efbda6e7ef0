// What a client accepts: the lists of Accept and Accept-Encoding (RFC 9110, 12.5).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainwatch {

struct AcceptedRange {
  std::string type;     // lower case: "text/plain", "gzip"
  std::string version;  // the parameter "version", if any
  double quality = 1;   // 0..1; 0 for what is malformed
};

std::vector<AcceptedRange> parse_accept(std::string_view header);

// Whether an Accept-Encoding allows gzip; without one it does not.
bool accepts_gzip(std::string_view header);

}  // namespace trainwatch
