// SPDX-License-Identifier: Apache-2.0
// How a Content-Security-Policy names a script or a style sheet by its content.
#pragma once

#include <string>
#include <string_view>

namespace trainwatch {

// "sha256-" and the hash in base64 (RFC 4648), from its 64 hexadecimal digits.
std::string content_source(std::string_view hash);

}  // namespace trainwatch
