// SPDX-License-Identifier: Apache-2.0
// Replaces a file atomically: a reader sees the old content or the new one, never a part.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/tail/file_handle.h"
#include "trainwatch/result.h"

namespace trainwatch {

// Whether the directory of `path` exists and `path` itself is not a directory.
Status can_replace(const std::string& path);

// Follows links. If the path is not a regular file, such as /dev/null, writes to it directly.
Status replace_file(const std::string& path, std::string_view content);

// The same for content that comes in pieces.
class FileReplacement {
 public:
  static Result<FileReplacement> begin(const std::string& path);
  FileReplacement(FileReplacement&& other) noexcept;
  FileReplacement& operator=(FileReplacement&&) = delete;
  // Without a commit() nothing has changed.
  ~FileReplacement();

  Status write(std::string_view piece);
  // The content is complete and replaces the old one. Call once, at the end.
  Status commit();

 private:
  FileReplacement(FileHandle file, std::string target, std::string beside)
      : file_(std::move(file)), target_(std::move(target)), beside_(std::move(beside)) {}

  FileHandle file_;
  std::string target_;
  std::string beside_;  // what is written; empty: the target itself, or no more
};

}  // namespace trainwatch
