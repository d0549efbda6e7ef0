// SPDX-License-Identifier: Apache-2.0
#include "pipeline/state/row_batch.h"

#include <cstddef>
#include <utility>

namespace trainwatch {

void RowBatch::add(std::string_view key, std::optional<std::string_view> value) {
  constexpr std::size_t kUsual = std::size_t{16} << 10U;  // of a commit with an alert
  encoded_.reserve(kUsual);
  key_ = key;
  value_ = value;
  encoded_(key_);
  encoded_(value_);
}

bool RowChanges::add(std::string_view encoded) {
  StateIo io = StateIo::loading(encoded);
  while (!io.complete()) {
    std::string key;
    std::optional<std::string> value;
    io(key);
    io(value);
    if (!io.ok()) return false;
    rows_.insert_or_assign(std::move(key), std::move(value));
  }
  return true;
}

}  // namespace trainwatch
