// The directory of a store: created if missing, private, locked while this object lives, and on a
// local disk unless network file systems are allowed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "trainwatch/result.h"

namespace trainwatch {

// Why a store on disk could not be opened.
struct OpenFailure {
  enum class Why : std::uint8_t {
    in_use,     // another process uses it
    newer,      // written by a later version; not changed
    not_local,  // on a network file system, which is not allowed
    not_ours,   // another kind of file has that name; not changed
    unusable,   // the directory cannot be created, written or read
  };
  Why why = Why::unusable;
  std::string message;  // names the path and says what to do
};

class StateDirectory {
 public:
  // Locks `path`, so that a second process is refused before it touches anything.
  static std::variant<StateDirectory, OpenFailure> claim(const std::string& path,
                                                         bool allow_network);
  ~StateDirectory();
  StateDirectory(StateDirectory&& other) noexcept;
  StateDirectory& operator=(StateDirectory&&) = delete;

  std::string database() const { return path_ + "/state.db"; }

  // Creates an empty database file that only its owner may read; SQLite gives its other files the
  // same mode. Leaves an existing file alone.
  Status make_database_file() const;

  // Renames the files of the database to state.db.corrupt-N and so on. Returns the new path.
  Result<std::string> set_aside() const;

 private:
  StateDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_;  // descriptor that holds the lock
};

}  // namespace trainwatch
