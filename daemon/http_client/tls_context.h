// SPDX-License-Identifier: Apache-2.0
// A TLS context of a client.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "daemon/http_client/tls_client_config.h"
#include "trainwatch/result.h"

namespace trainwatch {

// TLS 1.2 or later. The error names the file that cannot be used. The system's authorities are
// those of OpenSSL, which SSL_CERT_FILE and SSL_CERT_DIR move, and the bundles of Red Hat and SUSE.
Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(const TlsClientConfig& config);

}  // namespace trainwatch
