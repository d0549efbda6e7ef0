// SPDX-License-Identifier: Apache-2.0
#include "daemon/http_client/tls_context.h"

#include <openssl/ssl.h>
#include <unistd.h>

#include <array>

namespace trainwatch {
namespace {

// Where systems other than Debian keep their authorities: an OpenSSL that is linked statically
// knows Debian's place only.
constexpr std::array kElsewhere{"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"};

}  // namespace

Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(const TlsClientConfig& config) {
  namespace ssl = boost::asio::ssl;
  auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  boost::system::error_code error;
  const auto failed = [&error](const std::string& file) {
    return Error{file + " cannot be used: " + error.message()};
  };
  if (!config.ca_file.empty()) {
    if (context->load_verify_file(config.ca_file, error)) return failed(config.ca_file);
  } else if (context->set_default_verify_paths(error)) {
    return failed("the system's certificate authorities");
  } else {
    for (const char* const file : kElsewhere) {
      if (access(file, R_OK) == 0 && context->load_verify_file(file, error)) return failed(file);
    }
  }
  if (!config.cert_file.empty()) {
    if (context->use_certificate_chain_file(config.cert_file, error)) {
      return failed(config.cert_file);
    }
    if (context->use_private_key_file(config.key_file, ssl::context::pem, error)) {
      return failed(config.key_file);
    }
  }
  context->set_verify_mode(config.insecure_skip_verify ? ssl::verify_none : ssl::verify_peer,
                           error);
  return context;
}

}  // namespace trainwatch
