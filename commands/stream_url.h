// The URL of a trainwatch's stream, taken apart.
#pragma once

#include <string>
#include <string_view>

#include "trainwatch/result.h"

namespace trainwatch {

struct StreamUrl {
  std::string host;  // "localhost", "::1"
  std::string port;
  std::string path;               // with the query, if any; "/api/v1/stream" when the URL has none
  std::string authority() const;  // for Host: and Origin:
};

// ws://host[:port][/path] or http://...; without a scheme ws:// is meant.
Result<StreamUrl> parse_stream_url(std::string_view url);

}  // namespace trainwatch
