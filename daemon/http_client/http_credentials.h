// SPDX-License-Identifier: Apache-2.0
// How a client says who it is.
#pragma once

#include <string>

#include "trainwatch/result.h"

namespace trainwatch {

// At most one way. Files are read for each request, so that renewed secrets are used; the white
// space at their end is not part of the secret.
struct HttpCredentials {
  std::string username{};  // basic authentication, with
  std::string password{};  // this or
  std::string password_file{};
  std::string bearer_token{};
  std::string bearer_token_file{};

  bool operator==(const HttpCredentials&) const = default;
};

// The content of a file with a secret. Fails if it is unreadable, empty, larger than 64 KiB or has
// control characters in it. The error names the file, never its content.
Result<std::string> read_secret(const std::string& path);

// The value of the header Authorization; empty: none. Blocks for reading the file.
Result<std::string> authorization(const HttpCredentials& credentials);

}  // namespace trainwatch
