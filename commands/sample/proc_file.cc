// SPDX-License-Identifier: Apache-2.0
#include "commands/sample/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace trainwatch {

ProcFile::ProcFile(std::string path)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {}

std::string_view ProcFile::read() {
  if (buffer_.empty()) buffer_.resize(std::size_t{16} << 10U);
  std::size_t used = 0;
  while (file_.valid()) {
    if (used == buffer_.size()) buffer_.resize(buffer_.size() * 2);
    const ssize_t got =
        pread(file_.get(), buffer_.data() + used, buffer_.size() - used, static_cast<off_t>(used));
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
  }
  return {buffer_.data(), used};
}

}  // namespace trainwatch
