// The Accept header of a request: media ranges with their quality.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainwatch {

struct MediaRange {
  std::string type;     // lower case, "text/plain"
  std::string version;  // the parameter "version", if any
  double quality = 1;   // 0..1; 0 for what is malformed
};

std::vector<MediaRange> parse_accept(std::string_view header);

}  // namespace trainwatch
