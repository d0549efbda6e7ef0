// SPDX-License-Identifier: Apache-2.0
// SQLite on a MemoryDisk, with disk errors and power loss on demand. The name of the VFS is free
// again when the object goes; no connection may be open then.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/memory_disk.h"

namespace trainwatch::test {

class CrashVfs {
 public:
  enum class Op : std::uint8_t { open, write, truncate, sync, remove };
  // Asked before each operation: SQLITE_OK, or the error that it fails with.
  using Fault = std::function<int(Op, const std::string& file)>;

  CrashVfs(std::string name, std::uint64_t seed) : name_(std::move(name)), random_(seed) {
    vfs_.iVersion = 1;
    vfs_.szOsFile = sizeof(Handle);
    vfs_.mxPathname = 512;
    vfs_.zName = name_.c_str();
    vfs_.pAppData = this;
    vfs_.xOpen = open;
    vfs_.xDelete = remove;
    vfs_.xAccess = access;
    vfs_.xFullPathname = full_path;
    vfs_.xRandomness = randomness;
    vfs_.xSleep = [](sqlite3_vfs*, int) { return 0; };
    vfs_.xCurrentTime = [](sqlite3_vfs*, double* time) {
      *time = 0;
      return SQLITE_OK;
    };
    vfs_.xGetLastError = [](sqlite3_vfs*, int, char*) { return 0; };
    if (sqlite3_vfs_register(&vfs_, 0) != SQLITE_OK) throw std::runtime_error("vfs");
  }
  ~CrashVfs() { sqlite3_vfs_unregister(&vfs_); }
  CrashVfs(const CrashVfs&) = delete;
  CrashVfs& operator=(const CrashVfs&) = delete;

  const std::string& name() const { return name_; }
  MemoryDisk& disk() { return disk_; }

  void set_fault(Fault fault) { fault_ = std::move(fault); }
  // Syncs say that they are done and do nothing, as PRAGMA synchronous = OFF would have it.
  void ignore_syncs() { syncs_ = false; }

  // After this many more operations everything fails until power_on().
  void power_off_after(int operations) { power_left_ = operations; }
  bool is_off() const { return power_left_ == 0; }
  // The disk with what survived. No file may be open.
  void power_on() {
    disk_.lose_power(random_);
    power_left_ = -1;
  }

 private:
  struct Handle : sqlite3_file {
    CrashVfs* vfs = nullptr;
    MemoryDisk::File file;
    std::string name;
    bool syncs_directory = false;
  };

  static CrashVfs& self(sqlite3_vfs* vfs) { return *static_cast<CrashVfs*>(vfs->pAppData); }
  static Handle& handle(sqlite3_file* file) { return *static_cast<Handle*>(file); }

  int before(Op op, const std::string& name) {
    if (is_off()) return SQLITE_IOERR;
    if (power_left_ > 0) --power_left_;
    return fault_ ? fault_(op, name) : SQLITE_OK;
  }

  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* raw, int flags, int* out) {
    CrashVfs& disk = self(vfs);
    raw->pMethods = nullptr;
    const std::string name = path == nullptr ? "" : path;  // none: a temporary file
    MemoryDisk::File file = disk.disk_.find(name);
    if (disk.is_off() || (file == nullptr && (flags & SQLITE_OPEN_CREATE) == 0)) {
      return SQLITE_CANTOPEN;
    }
    if (file == nullptr) {
      if (const int code = disk.before(Op::open, name); code != SQLITE_OK) return code;
      file = name.empty() ? std::make_shared<MemoryFile>() : disk.disk_.make(name);
    }
    Handle* made = new (raw) Handle;
    made->vfs = &disk;
    made->file = std::move(file);
    made->name = name;
    // As SQLite's own: the first sync of a log or journal makes the names in its directory durable.
    constexpr int kJournals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL;
    made->syncs_directory = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & kJournals) != 0;
    made->pMethods = &kMethods;
    if (out != nullptr) *out = flags;
    return SQLITE_OK;
  }

  static int remove(sqlite3_vfs* vfs, const char* path, int sync_directory) {
    CrashVfs& disk = self(vfs);
    if (const int code = disk.before(Op::remove, path); code != SQLITE_OK) return code;
    if (disk.disk_.find(path) == nullptr) return SQLITE_IOERR_DELETE_NOENT;
    disk.disk_.remove(path);
    if (sync_directory != 0 && disk.syncs_) disk.disk_.sync_directory();
    return SQLITE_OK;
  }

  // As SQLite's own: an empty file does not exist.
  static int access(sqlite3_vfs* vfs, const char* path, int flags, int* result) {
    const MemoryDisk::File file = self(vfs).disk_.find(path);
    *result = file != nullptr && (flags != SQLITE_ACCESS_EXISTS || !file->bytes().empty());
    return SQLITE_OK;
  }

  static int full_path(sqlite3_vfs* /*vfs*/, const char* path, int size, char* out) {
    sqlite3_snprintf(size, out, "%s", path);
    return SQLITE_OK;
  }

  static int randomness(sqlite3_vfs* vfs, int size, char* out) {
    for (int i = 0; i < size; ++i) out[i] = static_cast<char>(self(vfs).random_());
    return size;
  }

  static int close(sqlite3_file* file) {
    handle(file).~Handle();
    return SQLITE_OK;
  }
  static int read(sqlite3_file* file, void* out, int size, sqlite3_int64 at) {
    if (handle(file).vfs->is_off()) return SQLITE_IOERR_READ;
    const std::string& bytes = handle(file).file->bytes();
    const auto wanted = static_cast<std::size_t>(size);
    const std::size_t from = std::min(static_cast<std::size_t>(at), bytes.size());
    const std::size_t length = std::min(wanted, bytes.size() - from);
    std::memcpy(out, bytes.data() + from, length);
    std::memset(static_cast<char*>(out) + length, 0, wanted - length);
    return length == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
  }
  static int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
    Handle& to = handle(file);
    if (const int code = to.vfs->before(Op::write, to.name); code != SQLITE_OK) return code;
    to.file->write(static_cast<std::size_t>(at),
                   {static_cast<const char*>(bytes), static_cast<std::size_t>(size)});
    return SQLITE_OK;
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    Handle& to = handle(file);
    if (const int code = to.vfs->before(Op::truncate, to.name); code != SQLITE_OK) return code;
    to.file->truncate(static_cast<std::size_t>(size));
    return SQLITE_OK;
  }
  static int sync(sqlite3_file* file, int /*flags*/) {
    Handle& to = handle(file);
    CrashVfs& disk = *to.vfs;
    if (const int code = disk.before(Op::sync, to.name); code != SQLITE_OK) {
      if (!disk.is_off()) to.file->fail_sync(disk.random_);
      return code;
    }
    if (!disk.syncs_) return SQLITE_OK;
    to.file->sync();
    if (std::exchange(to.syncs_directory, false)) disk.disk_.sync_directory();
    return SQLITE_OK;
  }
  static int file_size(sqlite3_file* file, sqlite3_int64* size) {
    *size = static_cast<sqlite3_int64>(handle(file).file->bytes().size());
    return SQLITE_OK;
  }
  static int lock(sqlite3_file* /*file*/, int /*level*/) { return SQLITE_OK; }
  static int reserved(sqlite3_file* /*file*/, int* is) {
    *is = 0;
    return SQLITE_OK;
  }
  static int control(sqlite3_file* /*file*/, int /*op*/, void* /*arg*/) { return SQLITE_NOTFOUND; }
  static int sector_size(sqlite3_file* /*file*/) { return 4096; }
  static int traits(sqlite3_file* /*file*/) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

  // Version 1: no shared memory, so a write-ahead log works with an exclusive connection only.
  static constexpr sqlite3_io_methods kMethods = {1,       close,       read,    write,   truncate,
                                                  sync,    file_size,   lock,    lock,    reserved,
                                                  control, sector_size, traits,  nullptr, nullptr,
                                                  nullptr, nullptr,     nullptr, nullptr};

  std::string name_;
  MemoryDisk disk_;
  std::mt19937_64 random_;
  sqlite3_vfs vfs_{};
  Fault fault_;
  bool syncs_ = true;
  int power_left_ = -1;  // operations; negative: it stays on
};

}  // namespace trainwatch::test
