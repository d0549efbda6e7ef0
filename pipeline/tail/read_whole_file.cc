// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/read_whole_file.h"

#include <span>

namespace trainwatch {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10U;

}  // namespace

Result<std::string> read_whole_file(FileSystem& files, const std::string& path,
                                    std::size_t max_bytes) {
  const auto file = files.open(path);
  if (!file) return file.error();
  std::string bytes;
  for (;;) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + kReadBytes);
    const auto n = (*file)->read(begin, std::span{bytes}.subspan(begin));
    if (!n) return n.error();
    bytes.resize(begin + *n);
    if (*n == 0) return bytes;
    if (bytes.size() > max_bytes) {
      return Error{"larger than " + std::to_string(max_bytes) + " bytes"};
    }
  }
}

}  // namespace trainwatch
