// SPDX-License-Identifier: Apache-2.0
// What an object's state() writes, and an object that reads it back.
#pragma once

#include <string>
#include <string_view>

#include "trainwatch/state_io.h"
#include "trainwatch/state_rows.h"

namespace trainwatch::test {

template <class T>
std::string saved_state(T& object) {
  StateIo io = StateIo::saving();
  io(object);
  return io.take();
}

// True when the bytes are exactly one such object.
template <class T>
bool load_state(std::string_view bytes, T& object) {
  StateIo io = StateIo::loading(bytes);
  io(object);
  return io.complete();
}

// The rows of an object that puts them; `all` as in its save().
template <class T>
StoredRows put_rows(T& object, bool all = true) {
  StateRows changes;
  object.save(changes, all);
  StoredRows rows;
  for (auto& [key, value] : changes.changed()) {
    if (value) rows.emplace(key, *value);
  }
  return rows;
}

}  // namespace trainwatch::test
