// "127.0.0.1:9797", "[::1]:9797", "localhost:0", ":9797" (all interfaces).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainwatch/result.h"

namespace trainwatch {

struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
};

Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace trainwatch
