// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/spill_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace trainwatch {

Error SpillFile::failure(const char* what) const {
  return {std::string("temporary file in ") + directory_ + ": " + what + ": " +
          std::strerror(errno)};
}

Status SpillFile::append(std::string_view bytes) {
  if (bytes.size() > bytes_left_) {
    errno = EFBIG;
    return failure("has no room");
  }
  bytes_left_ -= bytes.size();
  if (!file_.valid()) {
    std::string path = directory_ + "/trainwatch-timeline-XXXXXX";
    file_ = FileHandle(mkostemp(path.data(), O_CLOEXEC));
    if (!file_.valid()) return failure("cannot be made");
    unlink(path.c_str());
  }
  while (!bytes.empty()) {
    const ssize_t count =
        pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failure("cannot be written");
    size_ += static_cast<std::uint64_t>(count);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return success();
}

Status SpillFile::read(std::uint64_t offset, std::span<char> buffer) {
  while (!buffer.empty()) {
    const ssize_t count =
        pread(file_.get(), buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failure("cannot be read");
    offset += static_cast<std::uint64_t>(count);
    buffer = buffer.subspan(static_cast<std::size_t>(count));
  }
  return success();
}

void SpillFile::forget(std::uint64_t offset, std::uint64_t size) {
  const int done = fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                             static_cast<off_t>(offset), static_cast<off_t>(size));
  if (done == 0) bytes_left_ += size;
}

}  // namespace trainwatch
