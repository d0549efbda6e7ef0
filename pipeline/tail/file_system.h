// SPDX-License-Identifier: Apache-2.0
// The seam between tailing and the operating system; tests substitute a model.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainwatch/result.h"

namespace trainwatch {

// Identifies a file. (device, inode) is not enough: ext4 and overlayfs reuse a freed inode for the
// next file, so the birth time is part of it.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t birth_ns = 0;  // 0 where the file system has none
  auto operator<=>(const FileIdentity&) const = default;
};

struct FileStat {
  FileIdentity identity;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  bool linked = true;  // false: the last name is gone
  // Known for open files only. The generation number of the inode, 0 where the file system has
  // none; distinguishes two files that got the same inode within one tick of the birth-time clock.
  std::uint32_t generation = 0;
  // On a network file system, where attributes may be stale and a size may appear to shrink.
  bool remote = false;
};

class OpenFile {
 public:
  virtual ~OpenFile() = default;
  virtual Result<FileStat> stat() = 0;
  // Reads at `offset` into `buffer`; 0 at the end. Short reads are normal.
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) = 0;
};

struct DirectoryEntry {
  enum class Type : std::uint8_t { file, directory, link, other };
  std::string name;  // any bytes but '/' and NUL
  Type type = Type::other;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual Result<std::vector<DirectoryEntry>> list(const std::string& directory) = 0;
  // Identity and size by path. May answer for a directory that the path led to a moment ago.
  virtual Result<FileStat> stat(const std::string& path) = 0;
  // Regular files only, read-only.
  virtual Result<std::unique_ptr<OpenFile>> open(const std::string& path) = 0;
  // False: calls below this root fail because an earlier one hangs, so they show nothing of what
  // is there.
  virtual bool answers(const std::string& root) const {
    static_cast<void>(root);
    return true;
  }
};

}  // namespace trainwatch
