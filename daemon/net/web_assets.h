// SPDX-License-Identifier: Apache-2.0
// The page (daemon/web) and the documentation (docs), compiled into the program
// (scripts/embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace trainwatch {

struct WebAsset {
  std::string_view name;  // of the file: "page.js"
  std::string_view path;  // where it is served: "/assets/page-0123456789abcdef.js"
  std::string_view hash;  // SHA-256 of its content, 64 hexadecimal digits
  std::string_view bytes;
  std::string_view gzip;  // the same, compressed; empty if there is none
};

std::span<const WebAsset> web_assets();

}  // namespace trainwatch
