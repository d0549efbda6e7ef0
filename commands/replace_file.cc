// SPDX-License-Identifier: Apache-2.0
#include "commands/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace trainwatch {
namespace {

namespace fs = std::filesystem;

Error failure(const std::string& path) {
  return {path + ": " + std::strerror(errno)};
}

}  // namespace

Status can_replace(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return Error{path + ": is a directory"};
  const fs::path folder = fs::absolute(path, ignored).parent_path();
  if (fs::is_directory(folder, ignored)) return success();
  return Error{folder.string() + ": no such directory"};
}

Status replace_file(const std::string& path, std::string_view content) {
  auto file = FileReplacement::begin(path);
  if (!file) return file.error();
  if (Status written = file->write(content); !written) return written;
  return file->commit();
}

Result<FileReplacement> FileReplacement::begin(const std::string& path) {
  std::error_code unknown;
  const bool special = fs::exists(path, unknown) && !fs::is_regular_file(path, unknown);
  const fs::path resolved = fs::weakly_canonical(path, unknown);
  const std::string target = special || unknown ? path : resolved.string();
  const std::string beside = special ? "" : target + "." + std::to_string(getpid()) + ".tmp";
  const std::string& written = special ? target : beside;
  const int flags = O_WRONLY | O_CLOEXEC | (special ? 0 : O_CREAT | O_TRUNC);
  FileHandle file(open(written.c_str(), flags, 0666));
  if (!file.valid()) return failure(written);
  return FileReplacement(std::move(file), target, beside);
}

FileReplacement::FileReplacement(FileReplacement&& other) noexcept
    : file_(std::move(other.file_)),
      target_(std::move(other.target_)),
      beside_(std::exchange(other.beside_, {})) {}

FileReplacement::~FileReplacement() {
  if (!beside_.empty()) unlink(beside_.c_str());
}

Status FileReplacement::write(std::string_view piece) {
  while (!piece.empty()) {
    const ssize_t written = ::write(file_.get(), piece.data(), piece.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure(beside_.empty() ? target_ : beside_);
    piece.remove_prefix(static_cast<std::size_t>(written));
  }
  return success();
}

Status FileReplacement::commit() {
  if (beside_.empty()) return success();
  if (std::rename(beside_.c_str(), target_.c_str()) != 0) return failure(target_);
  beside_.clear();
  return success();
}

}  // namespace trainwatch
