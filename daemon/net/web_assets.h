// The files of daemon/web/ and the runbooks of docs/ that are served, compiled into the program
// (scripts/embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace trainwatch {

struct WebAsset {
  std::string_view name;  // file name, "index.html"
  std::string_view etag;  // quoted, as in the header
  std::string_view bytes;
};

std::span<const WebAsset> web_assets();

}  // namespace trainwatch
