#include "commands/stream_url.h"

#include "daemon/net/query_string.h"

namespace trainwatch {

std::string StreamUrl::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == "80" ? name : name + ":" + port;
}

Result<StreamUrl> parse_stream_url(std::string_view url) {
  std::string_view rest = url;
  if (const auto end = rest.find("://"); end != std::string_view::npos) {
    const auto scheme = rest.substr(0, end);
    if (scheme == "wss" || scheme == "https") {
      return Error{"TLS is not supported: use ws:// or http://"};
    }
    if (scheme != "ws" && scheme != "http")
      return Error{"the URL must begin with ws:// or http://"};
    rest.remove_prefix(end + 3);
  }
  const auto slash = rest.find('/');
  const auto authority = rest.substr(0, slash);
  StreamUrl parts;
  parts.path = slash == std::string_view::npos ? "" : rest.substr(slash);
  if (parts.path.empty() || parts.path == "/") parts.path = "/api/v1/stream";

  const auto bracket = authority.find(']');
  const bool bracketed = authority.starts_with('[') && bracket != std::string_view::npos;
  const auto colon = authority.find(':', bracketed ? bracket : 0);
  parts.host = bracketed ? authority.substr(1, bracket - 1) : authority.substr(0, colon);
  parts.port = colon == std::string_view::npos ? "80" : authority.substr(colon + 1);
  const auto port = parse_unsigned(parts.port);
  if (parts.host.empty()) return Error{"the URL has no host"};
  if (!port || *port == 0 || *port > 65535) return Error{"the port of the URL is not a port"};
  return parts;
}

}  // namespace trainwatch
