// SPDX-License-Identifier: Apache-2.0
// The OpenSSL context of the listener. That of a client: daemon/http_client/tls_context.h.
#pragma once

#include <memory>
#include <string>

#include "daemon/access/access.h"
#include "trainwatch/result.h"

namespace trainwatch {

using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

// For the listener. Fails if certificate, key or CA cannot be used, and says which.
Result<TlsContext> make_server_tls(const TlsSettings& settings);

// Where certificates that the system trusts lie, on the usual distributions; empty: nowhere.
std::string system_ca_file();

}  // namespace trainwatch
