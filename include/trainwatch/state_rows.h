// SPDX-License-Identifier: Apache-2.0
// State as named rows, so that a commit writes only what changed. Each part of the pipeline puts
// the rows that changed since it was last asked; the key says whose they are: "file/17",
// "rule/step_spike/3".
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "trainwatch/state_io.h"

namespace trainwatch {

// Rows as they were stored, by key.
using StoredRows = std::map<std::string, std::string, std::less<>>;

// The key of a numbered row, zero-padded so that rows sort by number.
inline std::string numbered_row(std::string_view prefix, std::uint64_t number) {
  constexpr std::size_t kDigits = 20;
  const std::string digits = std::to_string(number);
  return std::string(prefix).append(kDigits - digits.size(), '0').append(digits);
}

// Parses the whole text as a number; nullopt if it is not one.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

// Appends the id to the prefix; id_in() parses it back from the rest of the key.
template <class Id>
std::string id_row(std::string_view prefix, Id id) {
  return std::string(prefix) + std::to_string(static_cast<std::underlying_type_t<Id>>(id));
}
template <class Id>
std::optional<Id> id_in(std::string_view text) {
  const auto number = number_in<std::underlying_type_t<Id>>(text);
  return number ? std::optional(static_cast<Id>(*number)) : std::nullopt;
}

// Stored rows, and what the ids in them stand for now. Both outlive it.
struct SavedState {
  // Not explicit: stored rows are a state in which every id is what it was.
  SavedState(const StoredRows& stored, SavedIds* known = nullptr) : rows(stored), ids(known) {}

  StateIo open(std::string_view value) const { return StateIo::loading(value, ids); }
  // The subject whose saved id is part of a key; nullopt: it is gone, or never was.
  std::optional<SubjectId> subject(std::string_view digits) const {
    auto id = id_in<SubjectId>(digits);
    if (!id || (ids != nullptr && ids->translate(*id) != SavedIds::Fate::kept)) return std::nullopt;
    return id;
  }

  const StoredRows& rows;
  SavedIds* ids;
};

// Collects the rows that are put, or passes each on as it is made, so that not all of them are in
// memory at once.
class StateRows {
 public:
  // Takes a row; nullopt: it is removed. The value is valid during the call.
  using Sink = std::function<void(const std::string& key, std::optional<std::string_view> value)>;

  StateRows() = default;  // collects
  explicit StateRows(Sink sink) : sink_(std::move(sink)) {}

  // Replaces the row with what `state` writes.
  template <class State>
  void put(const std::string& key, State&& state) {
    io_.begin_again();
    state(io_);
    if (sink_) {
      sink_(key, io_.saved());
    } else {
      rows_.insert_or_assign(key, std::string(io_.saved()));
    }
  }
  void remove(const std::string& key) {
    if (sink_) {
      sink_(key, std::nullopt);
    } else {
      rows_.insert_or_assign(key, std::nullopt);
    }
  }

  // Removes the first `count` numbered rows.
  void remove_numbered(std::string_view prefix, std::uint64_t count) {
    for (std::uint64_t number = 0; number < count; ++number) remove(numbered_row(prefix, number));
  }

  // What was collected; nullopt: the row is removed.
  std::map<std::string, std::optional<std::string>>& changed() { return rows_; }
  const std::map<std::string, std::optional<std::string>>& changed() const { return rows_; }

 private:
  Sink sink_;
  std::map<std::string, std::optional<std::string>> rows_;
  StateIo io_ = StateIo::saving();
};

// Loads the row of `key`; true if it exists and is undamaged.
template <class State>
bool load_row(const SavedState& saved, std::string_view key, State&& state) {
  const auto row = saved.rows.find(key);
  if (row == saved.rows.end()) return false;
  StateIo io = saved.open(row->second);
  state(io);
  return io.complete();
}

// Calls `use(rest of the key, value)` for every row whose key begins with `prefix`, in order, until
// it returns false. False: it did.
template <class Use>
bool for_rows(const SavedState& saved, std::string_view prefix, Use&& use) {
  for (auto row = saved.rows.lower_bound(prefix); row != saved.rows.end(); ++row) {
    if (!row->first.starts_with(prefix)) break;
    if (!use(std::string_view(row->first).substr(prefix.size()), row->second)) return false;
  }
  return true;
}

}  // namespace trainwatch
