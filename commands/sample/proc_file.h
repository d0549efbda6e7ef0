// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "pipeline/tail/file_handle.h"

namespace trainwatch {

// A file of the kernel (/proc, cgroups) that stays open: reading it again is one system call.
class ProcFile {
 public:
  explicit ProcFile(std::string path);
  const std::string& path() const { return path_; }
  bool available() const { return file_.valid(); }
  // The text as of now, valid until the next call; empty when it cannot be read.
  std::string_view read();

 private:
  std::string path_;
  FileHandle file_;
  std::string buffer_;
};

}  // namespace trainwatch
