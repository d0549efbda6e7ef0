// The directory a store lives in: made when it is missing, private, ours alone while this object
// lives, and on a local disk unless something else was allowed.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "pipeline/state/open_failure.h"
#include "trainwatch/result.h"

namespace trainwatch {

class StateDirectory {
 public:
  // Locks `path`, so that a second process is refused before it touches anything.
  static std::variant<StateDirectory, OpenFailure> claim(const std::string& path,
                                                         bool allow_network);
  ~StateDirectory();
  StateDirectory(StateDirectory&& other) noexcept;
  StateDirectory& operator=(StateDirectory&&) = delete;

  std::string database() const { return path_ + "/state.db"; }

  // Makes an empty database file that only its owner may read; SQLite gives its other files the
  // same mode. A file that is there stays as it is.
  Status make_database_file() const;

  // Renames the files of the database to state.db.corrupt-N and so on. Returns the new path.
  Result<std::string> set_aside() const;

 private:
  StateDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_;  // descriptor that holds the lock
};

}  // namespace trainwatch
