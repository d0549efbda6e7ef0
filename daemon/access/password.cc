// SPDX-License-Identifier: Apache-2.0
#include "daemon/access/password.h"

#include <crypt.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <memory>

namespace trainwatch {
namespace {

constexpr std::size_t kSize = 60;          // of a hash
constexpr std::size_t kShortest = 59;      // what Go accepts: without the letter
constexpr std::size_t kHashBytes = 31;     // behind prefix, cost and salt
constexpr std::size_t kCountedBytes = 72;  // of a password

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "$2b$10$SALTandHASH" of "$2y$10$..." and "$2$10$...".
std::string canonical(std::string_view hash) {
  const std::size_t rest = hash[2] == '$' ? 3 : 4;
  return "$2b$" + std::string(hash.substr(rest));
}

}  // namespace

Status check_bcrypt(std::string_view hash) {
  if (hash.size() < kShortest) return Error{"is too short for a bcrypt hash"};
  const std::size_t cost = hash[2] == '$' ? 3 : 4;
  if (hash[0] != '$' || hash[1] != '2' || hash[cost - 1] != '$' || !is_digit(hash[cost]) ||
      !is_digit(hash[cost + 1]) || hash[cost + 2] != '$') {
    return Error{"is not a bcrypt hash, which begins with $2y$10$ or the like"};
  }
  const int rounds = (hash[cost] - '0') * 10 + (hash[cost + 1] - '0');
  if (rounds < 4 || rounds > 31) return Error{"has a cost outside 4..31"};
  return success();
}

bool bcrypt_matches(std::string_view hash, std::string_view password) {
  const std::string wanted = canonical(hash);
  const bool cut = password.find('\0') != std::string_view::npos;  // crypt() would end there
  const std::string counted(password.substr(0, kCountedBytes));
  const auto data = std::make_unique<crypt_data>();
  const char* found = crypt_r(counted.c_str(), wanted.c_str(), data.get());
  const bool same =
      found != nullptr && wanted.size() == kSize && std::string_view(found).size() == kSize &&
      CRYPTO_memcmp(found + kSize - kHashBytes, wanted.data() + kSize - kHashBytes, kHashBytes) ==
          0;
  OPENSSL_cleanse(data.get(), sizeof *data);
  return same && !cut;
}

std::string unmatched_bcrypt(std::string_view hash) {
  // The last character of a real hash has two bits that are 0; '9' has them set.
  return canonical(hash).substr(0, 7) + std::string(kSize - 7, '9');
}

}  // namespace trainwatch
