// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace trainwatch {
namespace {

int open_in_kernel(int directory, const std::string& path, int flags, OpenBeneath::Links links) {
  const bool refused = links == OpenBeneath::Links::refused;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC | (refused ? O_NOFOLLOW : 0));
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (refused ? RESOLVE_NO_SYMLINKS : 0U);
  constexpr int kAttempts = 16;  // EAGAIN: a rename elsewhere disturbed the walk
  int descriptor = -1;
  for (int i = 0; i < kAttempts && descriptor < 0; ++i) {
    descriptor =
        static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how));
    if (descriptor < 0 && errno != EAGAIN && errno != EINTR) break;
  }
  return descriptor;
}

FileHandle open_by_component(int directory, const std::string& path, int flags) {
  if (path.empty() || path.starts_with('/')) {
    errno = path.empty() ? ENOENT : EXDEV;
    return {};
  }
  FileHandle held;
  for (std::size_t begin = 0;;) {
    const std::size_t slash = path.find('/', begin);
    const std::string name = path.substr(begin, slash - begin);
    if (name == "..") {
      errno = EXDEV;
      return {};
    }
    const int wanted = slash == std::string::npos ? flags : O_PATH | O_DIRECTORY;
    FileHandle next(::openat(directory, name.c_str(), wanted | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid() || slash == std::string::npos) return next;
    held = std::move(next);
    directory = held.get();
    begin = slash + 1;
  }
}

}  // namespace

FileHandle OpenBeneath::open(int directory, const std::string& path, int flags, Links links) {
  if (lookup_ == Lookup::kernel) {
    const int descriptor = open_in_kernel(directory, path, flags, links);
    // EPERM: a sandbox that does not know the call. It has no other cause for these flags.
    const bool absent = descriptor < 0 && (errno == ENOSYS || errno == EPERM);
    if (!absent) return FileHandle(descriptor);
    lookup_ = Lookup::by_component;
  }
  return open_by_component(directory, path, flags);
}

}  // namespace trainwatch
