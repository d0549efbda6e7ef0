// SPDX-License-Identifier: Apache-2.0
#include "daemon/http_client/http_credentials.h"

#include <openssl/evp.h>

#include <algorithm>
#include <fstream>

namespace trainwatch {
namespace {

constexpr std::size_t kMostSecretBytes = 65536;

std::string base64(const std::string& text) {
  std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');  // OpenSSL ends it with a null byte
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

Result<std::string> secret_of(const std::string& text, const std::string& file) {
  return file.empty() ? Result<std::string>(text) : read_secret(file);
}

}  // namespace

Result<std::string> read_secret(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostSecretBytes + 1, '\0');
  if (!file) return Error{path + ": cannot be read"};
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return Error{path + ": cannot be read"};
  if (text.size() > kMostSecretBytes) return Error{path + ": is too large for a secret"};
  text.resize(text.find_last_not_of(" \t\r\n") + 1);
  if (text.empty()) return Error{path + ": is empty"};
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (std::any_of(text.begin(), text.end(), control)) {
    return Error{path + ": contains a line break or another control character"};
  }
  return text;
}

Result<std::string> authorization(const HttpCredentials& credentials) {
  if (!credentials.username.empty()) {
    const auto password = secret_of(credentials.password, credentials.password_file);
    if (!password) return password.error();
    return "Basic " + base64(credentials.username + ":" + *password);
  }
  const auto token = secret_of(credentials.bearer_token, credentials.bearer_token_file);
  if (!token) return token.error();
  return token->empty() ? std::string() : "Bearer " + *token;
}

}  // namespace trainwatch
