// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "pipeline/tail/paths.h"

namespace trainwatch {
namespace {

Error failure(std::string_view call, const std::string& path, int code) {
  return Error{std::string(call) + " " + path + ": " + std::generic_category().message(code)};
}

std::int64_t nanoseconds(const struct statx_timestamp& t) {
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

Result<FileStat> stat_at(int directory, const char* name, int flags, const std::string& path) {
  struct statx raw {};
  constexpr unsigned kWanted =
      STATX_TYPE | STATX_NLINK | STATX_MTIME | STATX_INO | STATX_SIZE | STATX_BTIME;
  if (::statx(directory, name, flags, kWanted, &raw) != 0) return failure("stat", path, errno);
  if (!S_ISREG(raw.stx_mode)) return Error{path + ": not a regular file"};
  FileStat result;
  result.identity.device = (std::uint64_t{raw.stx_dev_major} << 32U) | raw.stx_dev_minor;
  result.identity.inode = raw.stx_ino;
  if ((raw.stx_mask & STATX_BTIME) != 0) result.identity.birth_ns = nanoseconds(raw.stx_btime);
  result.size = raw.stx_size;
  result.modified_ns = nanoseconds(raw.stx_mtime);
  result.linked = raw.stx_nlink > 0;
  return result;
}

std::uint32_t generation_of(int descriptor) {
  // Most file systems write an int here; FUSE writes a long, as the ioctl number says.
  long generation = 0;
  return ::ioctl(descriptor, FS_IOC_GETVERSION, &generation) == 0
             ? static_cast<std::uint32_t>(generation)
             : 0;
}

bool is_remote(int descriptor) {
  struct statfs raw {};
  return ::fstatfs(descriptor, &raw) == 0 && !network_file_system(raw.f_type).empty();
}

class PosixFile final : public OpenFile {
 public:
  PosixFile(FileHandle descriptor, std::string path)
      : descriptor_(std::move(descriptor)),
        path_(std::move(path)),
        generation_(generation_of(descriptor_.get())),
        remote_(is_remote(descriptor_.get())) {}

  Result<FileStat> stat() override {
    auto result = stat_at(descriptor_.get(), "", AT_EMPTY_PATH, path_);
    if (!result) return result;
    result->generation = generation_;
    result->remote = remote_;
    return result;
  }

  Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) override {
    while (true) {
      const ssize_t n =
          ::pread(descriptor_.get(), buffer.data(), buffer.size(), static_cast<off_t>(offset));
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) return failure("read", path_, errno);
    }
  }

 private:
  FileHandle descriptor_;
  std::string path_;  // for messages
  std::uint32_t generation_;
  bool remote_;
};

DirectoryEntry::Type type_of(DIR* directory, const dirent& entry) {
  using Type = DirectoryEntry::Type;
  if (entry.d_type == DT_REG) return Type::file;
  if (entry.d_type == DT_DIR) return Type::directory;
  if (entry.d_type == DT_LNK) return Type::link;
  if (entry.d_type != DT_UNKNOWN) return Type::other;
  struct stat raw {};
  if (::fstatat(::dirfd(directory), entry.d_name, &raw, AT_SYMLINK_NOFOLLOW) != 0) {
    return Type::other;
  }
  if (S_ISREG(raw.st_mode)) return Type::file;
  if (S_ISLNK(raw.st_mode)) return Type::link;
  return S_ISDIR(raw.st_mode) ? Type::directory : Type::other;
}

bool is_absolute(const std::string& path) {
  return path.starts_with('/');
}

// `path` as seen from `directory`, which contains it.
std::string relative(const std::string& path, const std::string& directory) {
  const std::size_t skip = directory == "/" ? 1 : directory.size() + 1;
  return path.size() <= skip ? "." : path.substr(skip);
}

struct NetworkFileSystem {
  std::uint32_t magic;
  std::string_view name;
};

constexpr std::array kNetworkFileSystems{
    NetworkFileSystem{0x00006969, "NFS"},      NetworkFileSystem{0xff534d42, "CIFS"},
    NetworkFileSystem{0xfe534d42, "SMB2"},     NetworkFileSystem{0x0000517b, "SMB"},
    NetworkFileSystem{0x65735546, "FUSE"},     NetworkFileSystem{0x0bd00bd0, "Lustre"},
    NetworkFileSystem{0x5346414f, "AFS"},      NetworkFileSystem{0x6b414653, "AFS"},
    NetworkFileSystem{0x01021997, "9p"},       NetworkFileSystem{0x00c36400, "Ceph"},
    NetworkFileSystem{0x47504653, "GPFS"},     NetworkFileSystem{0x19830326, "BeeGFS"},
    NetworkFileSystem{0x73757245, "Coda"},     NetworkFileSystem{0x0000564c, "NCP"},
    NetworkFileSystem{0x20030528, "OrangeFS"}, NetworkFileSystem{0x01161970, "GFS2"},
    NetworkFileSystem{0x7461636f, "OCFS2"},    NetworkFileSystem{0xaad7aaea, "PanFS"},
    NetworkFileSystem{0x786f4256, "vboxsf"},
};

}  // namespace

PosixFileSystem::PosixFileSystem(std::vector<WatchRoot> roots, OpenBeneath::Lookup lookup)
    : beneath_(lookup), top_(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  roots_.reserve(roots.size());
  for (WatchRoot& root : roots) roots_.push_back({std::move(root), {}});
}

// The innermost root that contains `path`; null if there is none.
PosixFileSystem::OpenRoot* PosixFileSystem::root_around(const std::string& path) {
  OpenRoot* innermost = nullptr;
  for (OpenRoot& open : roots_) {
    const bool deeper = innermost == nullptr || open.root.path.size() > innermost->root.path.size();
    if (deeper && lies_in(path, open.root)) innermost = &open;
  }
  return innermost;
}

bool PosixFileSystem::is_open(OpenRoot& root) {
  if (!root.directory.valid() && is_absolute(root.root.path)) {
    root.directory = beneath_.open(top_.get(), relative(root.root.path, "/"), O_PATH | O_DIRECTORY);
  }
  return root.directory.valid();
}

bool PosixFileSystem::is_beside_a_root(const std::string& path) {
  return std::ranges::any_of(roots_, [&](OpenRoot& open) {
    const std::string& root = open.root.path;
    const bool around = lies_in(root, WatchRoot{path, {}});
    return around || (parent_of(path) == parent_of(root) && !is_open(open));
  });
}

PosixFileSystem::Anchored PosixFileSystem::anchored(const std::string& path) {
  if (OpenRoot* const root = root_around(path)) {
    const auto links = root->root.follow_links ? OpenBeneath::Links::followed_beneath
                                               : OpenBeneath::Links::refused;
    if (is_open(*root)) {
      return {root->directory.get(), relative(path, root->root.path), links};
    }
    if (path != root->root.path) return {};
  } else if (!is_beside_a_root(path)) {
    errno = EXDEV;
    return {};
  }
  return {top_.get(), relative(path, "/")};
}

FileHandle PosixFileSystem::open(const std::string& path, int flags) {
  const Anchored at = anchored(path);
  return at.directory < 0 ? FileHandle() : beneath_.open(at.directory, at.path, flags, at.links);
}

// Open until another directory is asked for, or the next list().
int PosixFileSystem::directory_of(const std::string& path) {
  const std::string_view directory = parent_of(path);
  if (last_directory_.valid() && last_path_ == directory) return last_directory_.get();
  const Anchored at = anchored(path);
  if (at.directory < 0) return -1;
  last_directory_ =
      beneath_.open(at.directory, std::string(parent_of(at.path)), O_PATH | O_DIRECTORY);
  last_path_ = directory;
  return last_directory_.get();
}

Result<std::vector<DirectoryEntry>> PosixFileSystem::list(const std::string& directory) {
  last_directory_ = {};
  for (OpenRoot& root : roots_) {
    if (root.root.path == directory) root.directory = {};  // another may be there by now
  }
  FileHandle handle = open(directory, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
  if (!handle.valid()) return failure("list", directory, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(handle.get()), &::closedir);
  if (stream == nullptr) return failure("list", directory, errno);
  (void)handle.release();
  std::vector<DirectoryEntry> entries;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    entries.push_back({std::string(name), type_of(stream.get(), *entry)});
  }
  if (errno != 0) return failure("list", directory, errno);
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

Result<FileStat> PosixFileSystem::stat(const std::string& path) {
  const OpenRoot* const root = root_around(path);
  if (root != nullptr && root->root.follow_links) {
    const FileHandle file = open(path, O_PATH);
    if (!file.valid()) return failure("stat", path, errno);
    return stat_at(file.get(), "", AT_EMPTY_PATH, path);
  }
  const int directory = directory_of(path);
  if (directory < 0) return failure("stat", path, errno);
  const std::string name(name_of(path));
  return stat_at(directory, name.c_str(), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, path);
}

Result<std::unique_ptr<OpenFile>> PosixFileSystem::open(const std::string& path) {
  // O_NONBLOCK: otherwise opening a FIFO would wait for a writer.
  FileHandle handle = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!handle.valid()) {
    const int why = errno;
    last_directory_ = {};  // it may lead elsewhere by now
    return failure("open", path, why);
  }
  // Reading should not update the access time. Refused unless we own the file, which is harmless.
  (void)::fcntl(handle.get(), F_SETFL, O_NONBLOCK | O_NOATIME);
  auto file = std::make_unique<PosixFile>(std::move(handle), path);
  if (const auto found = file->stat(); !found) return found.error();
  return std::unique_ptr<OpenFile>(std::move(file));
}

std::string_view network_file_system(std::int64_t type) {
  const auto magic = static_cast<std::uint32_t>(type);
  const auto found = std::ranges::find(kNetworkFileSystems, magic, &NetworkFileSystem::magic);
  return found == kNetworkFileSystems.end() ? std::string_view() : found->name;
}

}  // namespace trainwatch
