// SPDX-License-Identifier: Apache-2.0
#include "pipeline/state/state_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "pipeline/tail/posix_file_system.h"

namespace trainwatch {
namespace {

namespace fs = std::filesystem;
using Why = OpenFailure::Why;

OpenFailure unusable(const std::string& what, const std::string& path, int code) {
  return {Why::unusable, what + " " + path + ": " + std::generic_category().message(code) +
                             "; it must be a directory that this user may write"};
}

// Creates `path` and its missing parents; the last component is private, and all of it is durable.
std::optional<OpenFailure> make_private(const std::string& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) return std::nullopt;
  const fs::path parent = fs::absolute(path).lexically_normal().parent_path();
  fs::create_directories(parent, code);
  if (code) return unusable("cannot create", parent, code.value());
  if (::mkdir(path.c_str(), 0700) != 0) return unusable("cannot create", path, errno);
  const int above = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (above < 0) return unusable("cannot open", parent, errno);
  ::fsync(above);
  ::close(above);
  return std::nullopt;
}

std::optional<OpenFailure> check_local(const std::string& path) {
  struct statfs raw {};
  if (::statfs(path.c_str(), &raw) != 0) return unusable("cannot look at", path, errno);
  // The kernel's type is a signed long, the magic numbers are 32 bits.
  const std::string_view name = network_file_system(raw.f_type);
  if (name.empty()) return std::nullopt;
  return OpenFailure{Why::not_local, path + " is on " + std::string(name) +
                                         ", where a database may be damaged; use a directory on a "
                                         "local disk, or allow network file systems"};
}

constexpr const char* kName = "state.db";
constexpr const char* kIncidents = "incidents";  // traces of incidents, kept beside the database

// True if nothing lies in it but what trainwatch leaves there.
bool holds_only_a_store(const std::string& path) {
  std::error_code code;
  for (fs::directory_iterator entry(path, code), end; !code && entry != end;
       entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kName) && name != kIncidents) return false;
  }
  return !code;
}

// Makes an existing directory private; what that does not allow becomes a note.
std::vector<std::string> tighten(const std::string& path) {
  struct stat now {};
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  if (::stat(path.c_str(), &now) != 0 || (now.st_mode & kOthers) == 0) return {};
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", now.st_mode & 07777U);
  const std::string was = "the state directory " + path + " had mode " + mode;
  const bool ours = now.st_uid == ::geteuid() && (now.st_mode & S_ISVTX) == 0;
  if (ours && holds_only_a_store(path) && ::chmod(path.c_str(), S_IRWXU) == 0) {
    return {was + "; it has 0700 now"};
  }
  return {was + "; others may enter it: use a directory of its own, with mode 0700"};
}

// A pipe or device of that name would block whoever opens it, a link leads elsewhere.
std::optional<OpenFailure> check_kinds(const std::string& path) {
  for (const std::string suffix : {"", "-wal", "-shm", "-journal", ".lock"}) {
    const std::string name = path + '/' + kName + suffix;
    struct stat found {};
    if (::lstat(name.c_str(), &found) != 0 || S_ISREG(found.st_mode)) continue;
    const char* kind = S_ISDIR(found.st_mode)    ? "directory"
                       : S_ISLNK(found.st_mode)  ? "symbolic link"
                       : S_ISFIFO(found.st_mode) ? "FIFO"
                       : S_ISSOCK(found.st_mode) ? "socket"
                                                 : "device";
    return OpenFailure{Why::not_ours, name + " is a " + kind + " and not a file; move it away"};
  }
  return std::nullopt;
}

}  // namespace

std::variant<StateDirectory, OpenFailure> StateDirectory::claim(const std::string& path,
                                                                bool allow_network) {
  if (auto failure = make_private(path)) return *failure;
  if (!allow_network) {
    if (auto failure = check_local(path)) return *failure;
  }
  if (auto failure = check_kinds(path)) return *failure;
  std::vector<std::string> notes = tighten(path);
  const std::string lock = path + "/state.db.lock";
  const int descriptor =
      ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (descriptor < 0) return unusable("cannot open", lock, errno);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    ::close(descriptor);
    if (code != EWOULDBLOCK) return unusable("cannot lock", lock, code);
    return OpenFailure{
        Why::in_use, path + " is in use by another trainwatch; stop it, or use another directory"};
  }
  return StateDirectory(path, descriptor, std::move(notes));
}

StateDirectory::~StateDirectory() {
  if (lock_ >= 0) ::close(lock_);
}

StateDirectory::StateDirectory(StateDirectory&& other) noexcept
    : path_(std::move(other.path_)),
      notes_(std::move(other.notes_)),
      lock_(std::exchange(other.lock_, -1)) {}

Status StateDirectory::make_database_file() const {
  constexpr int kHow = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int descriptor = ::open(database().c_str(), kHow, 0600);
  if (descriptor < 0) {
    return Error{"cannot open " + database() + ": " + std::generic_category().message(errno)};
  }
  ::close(descriptor);
  return success();
}

Result<std::string> StateDirectory::set_aside() const {
  const auto numbered = [this](int n) { return database() + ".corrupt-" + std::to_string(n); };
  std::error_code code;
  int number = 1;
  while (fs::exists(numbered(number), code)) ++number;
  // The database goes first: SQLite deletes a log without a database, but would treat a database
  // that has lost its log as complete.
  for (const std::string suffix : {"", "-wal", "-shm", "-journal"}) {
    const std::string from = database() + suffix;
    if (!fs::exists(from, code)) continue;
    fs::rename(from, numbered(number) + suffix, code);
    if (code) return Error{"cannot rename " + from + ": " + code.message()};
  }
  return numbered(number);
}

}  // namespace trainwatch
