// SPDX-License-Identifier: Apache-2.0
// bcrypt hashes of passwords, as htpasswd -B and exporter-toolkit use them.
#pragma once

#include <string>
#include <string_view>

#include "trainwatch/result.h"

namespace trainwatch {

// Fails with the reason if `hash` is no bcrypt hash: "$2y$10$" with 22 characters of salt and 31 of
// hash behind it. As with Go, the letter is any.
Status check_bcrypt(std::string_view hash);

// Whether `password` has this hash, which is one. Takes as long as the hash's cost says: some 60 ms
// with 10, twice as long with each one more. As everywhere, 72 bytes of a password count.
bool bcrypt_matches(std::string_view hash, std::string_view password);

// A hash that no password has, with the cost of `hash`: who does not exist takes as long as who
// does.
std::string unmatched_bcrypt(std::string_view hash);

}  // namespace trainwatch
