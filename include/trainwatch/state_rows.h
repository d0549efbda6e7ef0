// State as named rows, so that a commit writes only what changed. Each part of the pipeline puts
// the rows that changed since it was last asked; the key says whose they are: "file/17",
// "rule/step_spike/3".
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "trainwatch/state_io.h"

namespace trainwatch {

// Rows as they were stored, by key.
using StoredRows = std::map<std::string, std::string, std::less<>>;

class StateRows {
 public:
  // True if the store holds exactly this value for the key: the row need not be written again.
  using IsStored = std::function<bool(const std::string& key, std::string_view value)>;

  explicit StateRows(IsStored is_stored = {}) : is_stored_(std::move(is_stored)) {}

  // Replaces the row with what `state` writes.
  template <class State>
  void put(const std::string& key, State&& state) {
    StateIo io = StateIo::saving(std::move(buffer_));
    state(io);
    buffer_ = io.take();
    keys_.insert(key);
    if (is_stored_ && is_stored_(key, buffer_)) {
      rows_.erase(key);
    } else {
      rows_.insert_or_assign(key, std::string(buffer_));
    }
  }
  void remove(const std::string& key) { rows_.insert_or_assign(key, std::nullopt); }

  // The rows that differ from the stored ones; nullopt: the row is removed.
  std::map<std::string, std::optional<std::string>>& changed() { return rows_; }
  const std::map<std::string, std::optional<std::string>>& changed() const { return rows_; }
  // Every row that was put, also an unchanged one.
  bool was_put(const std::string& key) const { return keys_.contains(key); }
  void clear() {
    rows_.clear();
    keys_.clear();
  }

 private:
  IsStored is_stored_;
  std::map<std::string, std::optional<std::string>> rows_;
  std::set<std::string> keys_;
  std::string buffer_;
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
