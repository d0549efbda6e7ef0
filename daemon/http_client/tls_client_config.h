// SPDX-License-Identifier: Apache-2.0
// How a client checks who it talks to over TLS.
#pragma once

#include <string>

namespace trainwatch {

// Names follow Prometheus' tls_config. Paths of PEM files; they are read for each connection, so
// that renewed certificates are used.
struct TlsClientConfig {
  std::string ca_file{};      // authorities to trust instead of the system's
  std::string cert_file{};    // the client's own certificate, if the server wants one,
  std::string key_file{};     // and its key
  std::string server_name{};  // whom the certificate must name; empty: the host of the URL
  bool insecure_skip_verify = false;

  bool operator==(const TlsClientConfig&) const = default;
};

}  // namespace trainwatch
