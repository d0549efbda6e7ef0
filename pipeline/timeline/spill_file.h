// SPDX-License-Identifier: Apache-2.0
// Bytes in a temporary file that has no name: it is gone with this, and when the process ends,
// however it ends. For sorted runs, and for documents that are too large for memory.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "pipeline/tail/file_handle.h"
#include "pipeline/timeline/event_order.h"

namespace trainwatch {

class SpillFile final : public RunStore {
 public:
  // The file is made in `directory` when it is first needed, and takes at most `most_bytes` there;
  // what is more fails.
  explicit SpillFile(std::string directory,
                     std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max())
      : directory_(std::move(directory)), bytes_left_(most_bytes) {}

  Status append(std::string_view bytes) override;
  Status read(std::uint64_t offset, std::span<char> buffer) override;
  // Where the file system can, their space is free again.
  void forget(std::uint64_t offset, std::uint64_t size) override;

 private:
  Error failure(const char* what) const;

  std::string directory_;
  FileHandle file_;
  std::uint64_t size_ = 0;
  std::uint64_t bytes_left_;
};

}  // namespace trainwatch
