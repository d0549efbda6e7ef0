// How a client checks who it talks to over TLS.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "trainwatch/result.h"

namespace trainwatch {

// Names follow Prometheus' tls_config. Paths of PEM files; they are read for each connection, so
// that renewed certificates are used.
struct TlsClientConfig {
  std::string ca_file{};      // authorities to trust instead of the system's
  std::string cert_file{};    // the client's own certificate, if the server wants one,
  std::string key_file{};     // and its key
  std::string server_name{};  // whom the certificate must name; empty: the host of the URL
  bool insecure_skip_verify = false;
};

// TLS 1.2 or later. The error names the file that cannot be used. The system's authorities are
// those of OpenSSL, which SSL_CERT_FILE and SSL_CERT_DIR move.
Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(const TlsClientConfig& config);

}  // namespace trainwatch
