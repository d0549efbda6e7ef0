// SPDX-License-Identifier: Apache-2.0
#include "daemon/access/tls_names.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace trainwatch {
namespace {

constexpr TlsCipher kCiphers[] = {
    {"TLS_AES_128_GCM_SHA256", ""},
    {"TLS_AES_256_GCM_SHA384", ""},
    {"TLS_CHACHA20_POLY1305_SHA256", ""},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"},
    {"TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"},
    {"TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"},
    {"TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"},
    {"TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"},
};

constexpr std::pair<std::string_view, std::string_view> kCurves[] = {
    {"CurveP256", "P-256"}, {"CurveP384", "P-384"}, {"CurveP521", "P-521"}, {"X25519", "X25519"}};

constexpr std::pair<std::string_view, int> kVersions[] = {{"TLS10", TLS1_VERSION},
                                                          {"TLS11", TLS1_1_VERSION},
                                                          {"TLS12", TLS1_2_VERSION},
                                                          {"TLS13", TLS1_3_VERSION}};

constexpr std::pair<std::string_view, ClientAuth> kClientAuth[] = {
    {"", ClientAuth::none},
    {"NoClientCert", ClientAuth::none},
    {"RequestClientCert", ClientAuth::request},
    {"RequireAnyClientCert", ClientAuth::require_any},
    {"RequireClientCert", ClientAuth::require_any},  // an older name
    {"VerifyClientCertIfGiven", ClientAuth::verify_if_given},
    {"RequireAndVerifyClientCert", ClientAuth::require_and_verify},
};

template <class Table>
auto find_in(const Table& table, std::string_view name) {
  const auto found =
      std::ranges::find(table, name, [](const auto& row) { return std::get<0>(row); });
  return found == std::end(table) ? nullptr : &*found;
}

}  // namespace

const TlsCipher* find_cipher(std::string_view go) {
  const auto found = std::ranges::find(kCiphers, go, &TlsCipher::go);
  return found == std::end(kCiphers) ? nullptr : &*found;
}

std::string_view find_curve(std::string_view go) {
  const auto* row = find_in(kCurves, go);
  return row == nullptr ? std::string_view{} : row->second;
}

int find_tls_version(std::string_view go) {
  const auto* row = find_in(kVersions, go);
  return row == nullptr ? 0 : row->second;
}

std::optional<ClientAuth> find_client_auth(std::string_view go) {
  const auto* row = find_in(kClientAuth, go);
  return row == nullptr ? std::nullopt : std::optional(row->second);
}

}  // namespace trainwatch
