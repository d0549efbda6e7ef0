// State as named rows, so that a commit writes only what changed. Each part of the pipeline puts
// the rows that changed since it was last asked; the key says whose they are: "file/17",
// "rule/step_spike/3".
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "trainwatch/state_io.h"

namespace trainwatch {

// Rows as they were stored, by key.
using StoredRows = std::map<std::string, std::string, std::less<>>;

class StateRows {
 public:
  // Replaces the row with what `state` writes.
  template <class State>
  void put(std::string key, State&& state) {
    StateIo io = StateIo::saving();
    state(io);
    rows_.insert_or_assign(std::move(key), io.take());
  }
  void remove(std::string key) { rows_.insert_or_assign(std::move(key), std::nullopt); }

  // nullopt: the row is removed.
  const std::map<std::string, std::optional<std::string>>& all() const { return rows_; }
  void clear() { rows_.clear(); }

 private:
  std::map<std::string, std::optional<std::string>> rows_;
};

// Loads the row of `key`; true if it exists and is undamaged.
template <class State>
bool load_row(const StoredRows& rows, std::string_view key, State&& state) {
  const auto row = rows.find(key);
  if (row == rows.end()) return false;
  StateIo io = StateIo::loading(row->second);
  state(io);
  return io.complete();
}

// Calls `use(rest of the key, value)` for every row whose key begins with `prefix`, in order, until
// it returns false. False: it did.
template <class Use>
bool for_rows(const StoredRows& rows, std::string_view prefix, Use&& use) {
  for (auto row = rows.lower_bound(prefix); row != rows.end(); ++row) {
    if (!row->first.starts_with(prefix)) break;
    if (!use(std::string_view(row->first).substr(prefix.size()), row->second)) return false;
  }
  return true;
}

}  // namespace trainwatch
