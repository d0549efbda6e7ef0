// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/receiver_config.h"

#include "daemon/http_client/http_target.h"

namespace trainwatch {

std::vector<std::string> files_of(const ReceiverConfig& config) {
  std::vector<std::string> files = {config.url_file,
                                    config.credentials.password_file,
                                    config.credentials.bearer_token_file,
                                    config.tls.ca_file,
                                    config.tls.cert_file,
                                    config.tls.key_file};
  std::erase(files, "");
  return files;
}

Status check_receiver(const ReceiverConfig& config) {
  const auto both = [](const std::string& a, const std::string& b) {
    return !a.empty() && !b.empty();
  };
  if (config.url.empty() == config.url_file.empty()) {
    return Error{"needs either url or url_file"};
  }
  if (!config.url.empty()) {
    if (const auto target = parse_http_url(config.url); !target) return target.error();
  }
  const HttpCredentials& login = config.credentials;
  const bool bearer = !login.bearer_token.empty() || !login.bearer_token_file.empty();
  if (both(login.password, login.password_file)) {
    return Error{"has both password and password_file"};
  }
  if (both(login.bearer_token, login.bearer_token_file)) {
    return Error{"has both bearer_token and bearer_token_file"};
  }
  if (bearer && !login.username.empty()) return Error{"has both a username and a bearer token"};
  if (login.username.empty() && !(login.password + login.password_file).empty()) {
    return Error{"has a password without a username"};
  }
  if (config.tls.cert_file.empty() != config.tls.key_file.empty()) {
    return Error{"needs both cert_file and key_file, or neither"};
  }
  return success();
}

}  // namespace trainwatch
