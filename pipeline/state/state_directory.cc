#include "pipeline/state/state_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
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

}  // namespace

std::variant<StateDirectory, OpenFailure> StateDirectory::claim(const std::string& path,
                                                                bool allow_network) {
  if (auto failure = make_private(path)) return *failure;
  if (!allow_network) {
    if (auto failure = check_local(path)) return *failure;
  }
  const std::string lock = path + "/state.db.lock";
  const int descriptor = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return unusable("cannot open", lock, errno);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    ::close(descriptor);
    if (code != EWOULDBLOCK) return unusable("cannot lock", lock, code);
    return OpenFailure{
        Why::in_use, path + " is in use by another trainwatch; stop it, or use another directory"};
  }
  return StateDirectory(path, descriptor);
}

StateDirectory::~StateDirectory() {
  if (lock_ >= 0) ::close(lock_);
}

StateDirectory::StateDirectory(StateDirectory&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

Status StateDirectory::make_database_file() const {
  const int descriptor = ::open(database().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    if (errno == EISDIR) return success();  // open_tables() reports it
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
