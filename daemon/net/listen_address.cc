#include "daemon/net/listen_address.h"

#include <charconv>

namespace trainwatch {

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

}  // namespace trainwatch
