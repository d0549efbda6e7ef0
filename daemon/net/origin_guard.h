// Who may talk to us through a browser: protection against DNS rebinding (Host) and against web
// pages of others that open our WebSocket (Origin).
#pragma once

#include <string>
#include <vector>

#include "daemon/net/http_message.h"

namespace trainwatch {

class OriginGuard {
 public:
  // Bound to loopback, only loopback names and `allowed_hosts` are served. Bound elsewhere every
  // Host is, unless `allowed_hosts` names some.
  OriginGuard(bool loopback, std::vector<std::string> allowed_hosts);

  bool host_allowed(const HttpRequest& request) const;

  // For an upgrade. The Origin must be this very host; a client without one is no browser and is
  // welcome on loopback.
  bool origin_allowed(const HttpRequest& request) const;

 private:
  bool loopback_;
  std::vector<std::string> allowed_hosts_;
};

}  // namespace trainwatch
