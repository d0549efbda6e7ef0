// SPDX-License-Identifier: Apache-2.0
// A file system without the files that are set aside: they cannot be opened, with the reason as the
// error, so that they are treated as other files that cannot be read.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/app/set_aside.h"
#include "pipeline/tail/file_system.h"

namespace trainwatch {

class FilesNotSetAside final : public FileSystem {
 public:
  // `set_aside` may be null.
  FilesNotSetAside(std::unique_ptr<FileSystem> files, std::shared_ptr<const SetAside> set_aside)
      : files_(std::move(files)), set_aside_(std::move(set_aside)) {}

  Result<std::vector<DirectoryEntry>> list(const std::string& directory) override {
    return files_->list(directory);
  }
  Result<FileStat> stat(const std::string& path) override { return files_->stat(path); }
  Result<std::unique_ptr<OpenFile>> open(const std::string& path) override {
    auto opened = files_->open(path);
    if (!opened.ok() || set_aside_ == nullptr || set_aside_->empty()) return opened;
    const auto found = (*opened)->stat();
    const auto reason =
        found.ok() ? set_aside_->reason(found->identity, found->size) : std::nullopt;
    if (reason) return Error{path + ": " + *reason};
    return opened;
  }
  bool answers(const std::string& root) const override { return files_->answers(root); }

 private:
  std::unique_ptr<FileSystem> files_;
  std::shared_ptr<const SetAside> set_aside_;
};

}  // namespace trainwatch
