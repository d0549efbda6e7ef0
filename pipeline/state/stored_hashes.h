// SPDX-License-Identifier: Apache-2.0
// What the store holds, as a hash of each row: a commit compares each row with it as it is made,
// and writes those that differ.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pipeline/state/state_store.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class StoredHashes {
 public:
  // The store holds this row.
  void add(const std::string& key, std::string_view value);

  // Writes the rows that `put` puts, if they differ from the stored ones; with `all`, it puts every
  // row, and those that it does not put are erased. End with committed() or failed().
  template <class Put>
  Status write(StateRowWriter& writer, bool all, Put&& put) {
    ++round_;
    Status done = success();
    StateRows rows([&](const std::string& key, std::optional<std::string_view> value) {
      if (done.ok()) done = value ? write_row(writer, key, *value) : erase_row(writer, key);
    });
    put(rows);
    if (done.ok() && all) done = erase_others(writer);
    return done;
  }
  // The store holds what was written last.
  void committed();
  // It holds what it held before.
  void failed();

 private:
  static constexpr std::uint64_t kNone = 0;  // there is no such row

  struct Row {
    std::uint64_t stored = kNone;
    std::uint64_t now = kNone;     // with what the commit has written so far
    std::uint32_t put_in = 0;      // the last round in which it was put
    std::uint32_t changed_in = 0;  // and in which `now` changed
  };
  using Rows = std::unordered_map<std::string, Row>;

  static std::uint64_t hash_of(std::string_view value);
  void change(Rows::value_type& row, std::uint64_t now);
  Status write_row(StateRowWriter& writer, const std::string& key, std::string_view value);
  Status erase_row(StateRowWriter& writer, const std::string& key);
  Status erase_others(StateRowWriter& writer);

  Rows rows_;
  std::uint32_t round_ = 0;
  std::vector<Rows::value_type*> changed_;  // in this round
};

}  // namespace trainwatch
