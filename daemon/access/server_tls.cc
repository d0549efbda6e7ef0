// SPDX-License-Identifier: Apache-2.0
#include "daemon/access/server_tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/verify_context.hpp>
#include <filesystem>
#include <string_view>
#include <vector>

namespace trainwatch {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;

// Forward secrecy and authenticated encryption; with older versions of TLS what they have.
constexpr std::string_view kModernCiphers =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
constexpr std::string_view kOldCiphers =
    ":ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA";

Error failed(const std::string& what, const error_code& error) {
  return Error{what + ": " + error.message()};
}

std::string cipher_list(const TlsSettings& settings) {
  std::string list;
  for (const std::string& name : settings.ciphers)
    list.append(list.empty() ? "" : ":").append(name);
  if (!list.empty()) return list;
  list = kModernCiphers;
  if (settings.min_version < TLS1_2_VERSION) list += kOldCiphers;
  return list;
}

Status set_versions_and_ciphers(const TlsSettings& settings, SSL_CTX* context) {
  const bool old = settings.min_version < TLS1_2_VERSION;
  SSL_CTX_set_security_level(context, old ? 0 : 1);  // as strict as Go: TLS 1.0 needs SHA-1
  SSL_CTX_set_min_proto_version(context,
                                settings.only_tls13 ? TLS1_3_VERSION : settings.min_version);
  SSL_CTX_set_max_proto_version(context, settings.max_version);
  if (SSL_CTX_set_cipher_list(context, cipher_list(settings).c_str()) != 1) {
    return Error{"cipher_suites: not supported by this OpenSSL"};
  }
  if (!settings.curves.empty() && SSL_CTX_set1_groups_list(context, settings.curves.c_str()) != 1) {
    return Error{"curve_preferences: not supported by this OpenSSL"};
  }
  if (settings.prefer_server_ciphers) SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
  return success();
}

Status use_certificate(ssl::context& context, const std::string& cert, const std::string& key) {
  error_code error;
  context.set_password_callback([](std::size_t, auto) { return std::string(); }, error);
  context.use_certificate_chain(asio::buffer(cert), error);
  if (error) return failed("certificate", error);
  context.use_private_key(asio::buffer(key), ssl::context::pem, error);
  if (error) return failed("key", error);
  if (SSL_CTX_check_private_key(context.native_handle()) != 1) {
    return Error{"key: does not belong to the certificate"};
  }
  return success();
}

// As Go does, what is no certificate is left out: nobody is trusted for it.
void trust(SSL_CTX* context, const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  while (X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate);
    SSL_CTX_add_client_CA(context, certificate);
    X509_free(certificate);
  }
  ERR_clear_error();
  BIO_free(bio);
}

std::string text_of(const GENERAL_NAME& name) {
  if (name.type == GEN_IPADD) {
    const auto* bytes = name.d.iPAddress->data;
    const auto size = name.d.iPAddress->length;
    if (size == 4) {
      asio::ip::address_v4::bytes_type v4;
      std::copy_n(bytes, 4, v4.begin());
      return asio::ip::address_v4(v4).to_string();
    }
    if (size != 16) return {};
    asio::ip::address_v6::bytes_type v6;
    std::copy_n(bytes, 16, v6.begin());
    return asio::ip::address_v6(v6).to_string();
  }
  if (name.type != GEN_DNS && name.type != GEN_EMAIL && name.type != GEN_URI) return {};
  const auto* text = name.d.ia5;  // the three are the same
  return {reinterpret_cast<const char*>(text->data), static_cast<std::size_t>(text->length)};
}

bool has_allowed_san(X509* certificate, const std::vector<std::string>& allowed) {
  auto* names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  bool found = false;
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const std::string text = text_of(*sk_GENERAL_NAME_value(names, i));
    found = found || (!text.empty() && std::ranges::find(allowed, text) != allowed.end());
  }
  GENERAL_NAMES_free(names);
  return found;
}

void ask_for_certificates(const TlsSettings& settings, ssl::context& context) {
  if (settings.client_auth == ClientAuth::none) return;
  const bool required = settings.client_auth == ClientAuth::require_any ||
                        settings.client_auth == ClientAuth::require_and_verify;
  const bool verified = settings.client_auth == ClientAuth::verify_if_given ||
                        settings.client_auth == ClientAuth::require_and_verify;
  context.set_verify_mode(required ? ssl::verify_peer | ssl::verify_fail_if_no_peer_cert
                                   : ssl::verify_peer);
  context.set_verify_callback(
      [verified, sans = settings.client_allowed_sans](bool valid, ssl::verify_context& chain) {
        if (verified && !valid) return false;
        X509_STORE_CTX* store = chain.native_handle();
        if (!sans || X509_STORE_CTX_get_error_depth(store) != 0) return true;
        return has_allowed_san(X509_STORE_CTX_get_current_cert(store), *sans);
      });
  // A certificate in the file is trusted itself, whoever signed it.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context.native_handle()),
                              X509_V_FLAG_PARTIAL_CHAIN);
}

// HTTP/1.1 is all that is spoken; a client that offers nothing we know is served without ALPN.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
                    unsigned in_size, void*) {
  static constexpr unsigned char kProtocol[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, size, kProtocol, sizeof kProtocol - 1, in, in_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// Idle connections keep no buffers, and the server no sessions: tickets, which a reload voids.
void use_little_memory(SSL_CTX* context) {
  static constexpr unsigned char kName[] = "trainwatch";
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_session_id_context(context, kName, sizeof kName - 1);
  SSL_CTX_set_num_tickets(context, 1);
}

}  // namespace

Result<TlsContext> make_server_tls(const TlsSettings& settings) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* native = context->native_handle();
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  use_little_memory(native);
  SSL_CTX_set_alpn_select_cb(native, choose_protocol, nullptr);
  if (const Status set = set_versions_and_ciphers(settings, native); !set) return set.error();
  if (const Status used = use_certificate(*context, settings.cert, settings.key); !used) {
    return used.error();
  }
  if (settings.client_ca) {
    trust(native, *settings.client_ca);
  } else if (const std::string file = system_ca_file();
             !file.empty() && settings.client_auth != ClientAuth::none) {
    SSL_CTX_load_verify_file(native, file.c_str());
  }
  ask_for_certificates(settings, *context);
  return context;
}

std::string system_ca_file() {
  for (const char* path : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    std::error_code missing;
    if (std::filesystem::exists(path, missing)) return path;
  }
  return {};
}

}  // namespace trainwatch
