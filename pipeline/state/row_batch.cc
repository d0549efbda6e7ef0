#include "pipeline/state/row_batch.h"

#include <utility>

namespace trainwatch {

void RowBatch::add(std::string_view key, std::optional<std::string_view> value) {
  std::string name(key);
  std::optional<std::string> bytes(value);
  encoded_(name);
  encoded_(bytes);
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
