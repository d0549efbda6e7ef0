// Sorted runs in a temporary file that has no name: it is gone when the command ends, however it
// ends.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/tail/file_handle.h"
#include "pipeline/timeline/event_order.h"

namespace trainwatch {

class SpillFile final : public RunStore {
 public:
  // The file is made in `directory` when it is first needed.
  explicit SpillFile(std::string directory) : directory_(std::move(directory)) {}

  Status append(std::string_view bytes) override;
  Status read(std::uint64_t offset, std::span<char> buffer) override;
  // Where the file system can, their space is free again.
  void forget(std::uint64_t offset, std::uint64_t size) override;

 private:
  Error failure(const char* what) const;

  std::string directory_;
  FileHandle file_;
  std::uint64_t size_ = 0;
};

}  // namespace trainwatch
