// SPDX-License-Identifier: Apache-2.0
// Go's names of what TLS is configured with, and OpenSSL's for the same.
#pragma once

#include <optional>
#include <string_view>

#include "daemon/access/access.h"

namespace trainwatch {

struct TlsCipher {
  std::string_view go;
  std::string_view openssl;  // empty: of TLS 1.3, where the choice is not configurable
};

// Returns null for an unknown name.
const TlsCipher* find_cipher(std::string_view go);
// "X25519" -> "X25519", "CurveP256" -> "P-256"; empty: unknown.
std::string_view find_curve(std::string_view go);
// "TLS12" -> TLS1_2_VERSION; 0: unknown.
int find_tls_version(std::string_view go);
std::optional<ClientAuth> find_client_auth(std::string_view go);

}  // namespace trainwatch
