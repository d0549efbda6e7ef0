// SPDX-License-Identifier: Apache-2.0
// The real file system, as far as it lies below the watched roots. Whatever is swapped for what
// while it looks, it never leaves them. It follows symbolic links only where a root says so, and
// never blocks in open(): a FIFO, device or directory in place of a file is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/tail/file_handle.h"
#include "pipeline/tail/file_system.h"
#include "pipeline/tail/open_beneath.h"
#include "pipeline/tail/watch_root.h"

namespace trainwatch {

class PosixFileSystem final : public FileSystem {
 public:
  // No component of the path of a root may be or become a symbolic link: they are resolved once, by
  // the configuration. Beside what is below them, the directories around a root can be listed, and
  // the files beside a root that is a file, where its rotated pieces are.
  explicit PosixFileSystem(std::vector<WatchRoot> roots,
                           OpenBeneath::Lookup lookup = OpenBeneath::Lookup::kernel);

  // Entries sorted by name, without "." and "..". Listing a root looks for it again by its path.
  Result<std::vector<DirectoryEntry>> list(const std::string& directory) override;
  // Fails for everything that is not a regular file.
  Result<FileStat> stat(const std::string& path) override;
  Result<std::unique_ptr<OpenFile>> open(const std::string& path) override;

 private:
  struct OpenRoot {
    WatchRoot root;
    FileHandle directory;  // invalid: not open, or the root is no directory
  };
  // A path relative to an open directory. The directory is -1, with errno set, if there is none.
  struct Anchored {
    int directory = -1;
    std::string path;
    OpenBeneath::Links links = OpenBeneath::Links::refused;
  };

  OpenRoot* root_around(const std::string& path);
  bool is_open(OpenRoot& root);
  bool is_beside_a_root(const std::string& path);
  Anchored anchored(const std::string& path);
  FileHandle open(const std::string& path, int flags);
  int directory_of(const std::string& path);

  std::vector<OpenRoot> roots_;
  OpenBeneath beneath_;
  FileHandle top_;  // "/"
  // The directory of the last stat(): most calls ask for the files of one directory in turn.
  std::string last_path_;
  FileHandle last_directory_;
};

// The name of a file system on which other machines, or user-space processes, write unseen, and on
// which locks and syncs may not mean what a database needs; empty for a local one. `type` is
// statfs(2)'s f_type.
std::string_view network_file_system(std::int64_t type);

}  // namespace trainwatch
