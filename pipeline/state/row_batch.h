// SPDX-License-Identifier: Apache-2.0
// Rows of state that a commit stores in one piece, which writes a few pages instead of one or two
// for each row: a subscriber waits for a commit with alerts. The store moves them to their places
// with a later commit.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "trainwatch/state_io.h"

namespace trainwatch {

class RowBatch {
 public:
  // Inserts or replaces a row; nullopt: erases it.
  void add(std::string_view key, std::optional<std::string_view> value);

  // Valid until the next add().
  std::string_view encoded() const { return encoded_.saved(); }

 private:
  StateIo encoded_ = StateIo::saving();
  // Of the last row; kept for their memory.
  std::string key_;
  std::optional<std::string> value_;
};

// What batches change: the newest version of each row.
class RowChanges {
 public:
  using Rows = std::map<std::string, std::optional<std::string>, std::less<>>;

  // Adds a batch, which is newer than those before. False: these are no rows.
  bool add(std::string_view encoded);

  const Rows& rows() const { return rows_; }

 private:
  Rows rows_;
};

}  // namespace trainwatch
