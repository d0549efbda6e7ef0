#include "daemon/app/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "daemon/file_handle.h"

namespace trainwatch {
namespace {

namespace fs = std::filesystem;

Error failure(const std::string& path) {
  return {path + ": " + std::strerror(errno)};
}

Status write_to(const std::string& path, int flags, std::string_view content) {
  const FileHandle file(open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666));
  if (!file.valid()) return failure(path);
  while (!content.empty()) {
    const ssize_t written = write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure(path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return success();
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
  std::error_code unknown;
  if (fs::exists(path, unknown) && !fs::is_regular_file(path, unknown)) {
    return write_to(path, 0, content);
  }
  const fs::path resolved = fs::weakly_canonical(path, unknown);
  const std::string target = unknown ? path : resolved.string();
  const std::string beside = target + "." + std::to_string(getpid()) + ".tmp";
  Status written = write_to(beside, O_CREAT | O_TRUNC, content);
  if (written && std::rename(beside.c_str(), target.c_str()) != 0) written = failure(target);
  if (!written) unlink(beside.c_str());
  return written;
}

}  // namespace trainwatch
