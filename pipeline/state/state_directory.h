// SPDX-License-Identifier: Apache-2.0
// The directory of a store: created if missing, private, locked while this object lives, and on a
// local disk unless network file systems are allowed. One that others may enter is made private if
// it is ours and holds nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

  // Rights that were changed, or that others have; for the log.
  const std::vector<std::string>& notes() const { return notes_; }

  std::string database() const { return path_ + "/state.db"; }

  // Creates an empty database file that only its owner may read; SQLite gives its other files the
  // same mode. Leaves an existing file alone.
  Status make_database_file() const;

  // Renames the files of the database to state.db.corrupt-N and so on. Returns the new path.
  Result<std::string> set_aside() const;

 private:
  StateDirectory(std::string path, int lock, std::vector<std::string> notes)
      : path_(std::move(path)), notes_(std::move(notes)), lock_(lock) {}
  std::string path_;
  std::vector<std::string> notes_;
  int lock_;  // descriptor that holds the lock
};

}  // namespace trainwatch
