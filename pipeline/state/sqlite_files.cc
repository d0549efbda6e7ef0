// SPDX-License-Identifier: Apache-2.0
#include "pipeline/state/sqlite_files.h"

#include <sqlite3.h>

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace trainwatch {
namespace {

constexpr std::size_t kHeadBytes = 100;
constexpr std::int64_t kSmallestPage = 512;
constexpr std::size_t kWriteFormatAt = 18;
constexpr std::size_t kVersionAt = 60;
constexpr std::size_t kApplicationAt = 68;
constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::string_view kJournalMagic{"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8};
constexpr std::size_t kPagesBeforeAt = 16;
constexpr std::int64_t kLogHeadBytes = 32;
constexpr std::size_t kLogPageSizeAt = 8;
constexpr std::int64_t kFrameHeadBytes = 24;

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = (value << 8U) | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

// A file, opened the way SQLite opens it.
class VfsFile {
 public:
  // A missing file: ok() is false and missing() true.
  VfsFile(const std::string& path, int flags, const std::string& vfs)
      : vfs_(sqlite3_vfs_find(vfs.empty() ? nullptr : vfs.c_str())),
        name_(sqlite3_create_filename(path.c_str(), (path + "-journal").c_str(),
                                      (path + "-wal").c_str(), 0, nullptr)) {
    if (vfs_ == nullptr || name_ == nullptr) return;
    const char* name = name_.get();
    if ((flags & SQLITE_OPEN_WAL) != 0) name = sqlite3_filename_wal(name);
    if ((flags & SQLITE_OPEN_MAIN_JOURNAL) != 0) name = sqlite3_filename_journal(name);
    int exists = 0;
    vfs_->xAccess(vfs_, name, SQLITE_ACCESS_EXISTS, &exists);
    missing_ = exists == 0;
    if (missing_) return;
    memory_.resize(static_cast<std::size_t>(vfs_->szOsFile) / sizeof(std::max_align_t) + 1);
    open_ = vfs_->xOpen(vfs_, name, file(), flags, nullptr) == SQLITE_OK;
  }
  ~VfsFile() {
    if (!memory_.empty() && file()->pMethods != nullptr) file()->pMethods->xClose(file());
  }
  VfsFile(const VfsFile&) = delete;
  VfsFile& operator=(const VfsFile&) = delete;

  bool missing() const { return missing_; }
  bool is_open() const { return open_; }

  std::int64_t size() {
    sqlite3_int64 bytes = 0;
    return file()->pMethods->xFileSize(file(), &bytes) == SQLITE_OK ? bytes : -1;
  }
  // False if there are fewer bytes, or they cannot be read.
  bool read(std::span<char> buffer) {
    const int length = static_cast<int>(buffer.size());
    return file()->pMethods->xRead(file(), buffer.data(), length, 0) == SQLITE_OK;
  }
  bool truncate(std::int64_t bytes) {
    return file()->pMethods->xTruncate(file(), bytes) == SQLITE_OK;
  }

 private:
  struct FreeName {
    void operator()(const char* name) const { sqlite3_free_filename(const_cast<char*>(name)); }
  };
  sqlite3_file* file() { return reinterpret_cast<sqlite3_file*>(memory_.data()); }

  sqlite3_vfs* vfs_;
  std::unique_ptr<const char, FreeName> name_;
  std::vector<std::max_align_t> memory_;  // storage for the VFS's own file type
  bool missing_ = false;
  bool open_ = false;
};

// Whether the journal says that the database was empty before.
bool is_half_made(const std::string& path, const std::string& vfs) {
  VfsFile journal(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_JOURNAL, vfs);
  std::array<char, kPagesBeforeAt + 4> buffer{};
  if (!journal.is_open() || !journal.read(buffer)) return false;
  const std::string_view bytes(buffer.data(), buffer.size());
  return bytes.starts_with(kJournalMagic) && big_endian(bytes, kPagesBeforeAt) == 0;
}

}  // namespace

Result<SqliteHead> read_sqlite_head(const std::string& path, const std::string& vfs) {
  VfsFile file(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, vfs);
  SqliteHead head;
  if (file.missing()) return head;
  if (!file.is_open()) return Error{"cannot open " + path};
  std::array<char, kHeadBytes> buffer{};
  const bool half_made = is_half_made(path, vfs);
  const std::int64_t size = file.size();
  head.is_fragment = !half_made && size > 0 && size < kSmallestPage;
  if (size < kSmallestPage || !file.read(buffer)) return head;
  const std::string_view bytes(buffer.data(), buffer.size());
  head.is_database = !half_made && bytes.starts_with(kMagic);
  head.is_writable = bytes[kWriteFormatAt] == 1 || bytes[kWriteFormatAt] == 2;
  head.application = big_endian(bytes, kApplicationAt);
  head.version = big_endian(bytes, kVersionAt);
  return head;
}

Status cut_sqlite_log(const std::string& path, int pages, const std::string& vfs) {
  VfsFile log(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_WAL, vfs);
  if (log.missing()) return success();
  const Error failure{"cannot cut " + path + "-wal back to its last commit"};
  if (!log.is_open()) return failure;
  std::array<char, kLogHeadBytes> head{};
  if (log.size() <= kLogHeadBytes) return success();
  if (!log.read(head)) return failure;
  const std::int64_t page = big_endian({head.data(), head.size()}, kLogPageSizeAt);
  const std::int64_t wanted = pages == 0 ? 0 : kLogHeadBytes + pages * (kFrameHeadBytes + page);
  if (log.size() > wanted && !log.truncate(wanted)) return failure;
  return success();
}

}  // namespace trainwatch
