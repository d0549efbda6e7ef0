// The real file system. Never follows a symbolic link to a file and never blocks in open(): a FIFO,
// device or directory in place of a file is refused.
#pragma once

#include <cstdint>
#include <string_view>

#include "pipeline/tail/file_system.h"

namespace trainwatch {

class PosixFileSystem final : public FileSystem {
 public:
  // Entries sorted by name, without "." and "..". `directory` itself may be a symbolic link.
  Result<std::vector<DirectoryEntry>> list(const std::string& directory) override;
  // Fails for everything that is not a regular file.
  Result<FileStat> stat(const std::string& path) override;
  Result<std::unique_ptr<OpenFile>> open(const std::string& path) override;
};

// The name of a file system on which other machines, or user-space processes, write unseen, and on
// which locks and syncs may not mean what a database needs; empty for a local one. `type` is
// statfs(2)'s f_type.
std::string_view network_file_system(std::int64_t type);

}  // namespace trainwatch
