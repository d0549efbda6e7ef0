// SPDX-License-Identifier: Apache-2.0
// How a client of a trainwatch logs in (--http.config.file): Prometheus' http_config, as promtool
// and amtool take it, as far as it is about TLS and basic authentication.
#pragma once

#include <string>

#include "daemon/http_client/http_credentials.h"
#include "daemon/http_client/tls_context.h"
#include "trainwatch/result.h"

namespace trainwatch {

struct HttpClientConfig {
  HttpCredentials credentials{};
  TlsClientConfig tls{};
};

// Reads the file; paths in it are relative to its directory. The error has one line per mistake,
// with file and line.
Result<HttpClientConfig> load_http_config(const std::string& path);

}  // namespace trainwatch
