// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/privileges.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

namespace trainwatch {

bool runs_as_root() {
  return geteuid() == 0;
}

Status become_user(const std::string& name) {
  std::vector<char> memory(65536);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(name.c_str(), &entry, memory.data(), memory.size(), &found) != 0 ||
      found == nullptr) {
    return Error{"there is no user " + name};
  }
  if (geteuid() == entry.pw_uid && getuid() == entry.pw_uid) return success();
  if (geteuid() != 0) return Error{"only root can become user " + name};
  if (initgroups(entry.pw_name, entry.pw_gid) != 0 || setgid(entry.pw_gid) != 0 ||
      setuid(entry.pw_uid) != 0) {
    return Error{"cannot become user " + name + ": " + std::generic_category().message(errno)};
  }
  // Root's rights must be gone for good.
  if (entry.pw_uid != 0 && (setuid(0) == 0 || geteuid() == 0)) {
    return Error{"user " + name + " could become root again"};
  }
  return success();
}

}  // namespace trainwatch
