// SPDX-License-Identifier: Apache-2.0
// Paths as strings of bytes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace trainwatch {

// "." for a bare name.
inline std::string_view parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

inline std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

inline std::string join(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.ends_with('/')) path += '/';
  return path.append(name);
}

}  // namespace trainwatch
