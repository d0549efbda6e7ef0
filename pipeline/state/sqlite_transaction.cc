// SPDX-License-Identifier: Apache-2.0
#include "pipeline/state/sqlite_transaction.h"

#include <optional>

namespace trainwatch {

Status SqliteTransaction::begin() {
  if (begun_) return success();
  begun_ = true;
  const Status begun = tables_.begin();
  return begun && !in_batch_ ? move_batches() : begun;
}

Status SqliteTransaction::put(const std::string& key, std::string_view value) {
  if (Status begun = begin(); !begun) return begun;
  return in_batch_ ? add_to_batch(key, value) : tables_.put(key, value);
}

Status SqliteTransaction::erase(const std::string& key) {
  if (Status begun = begin(); !begun) return begun;
  return in_batch_ ? add_to_batch(key, std::nullopt) : tables_.erase(key);
}

Status SqliteTransaction::commit() {
  if (const std::string_view rows = batch_.encoded(); in_batch_ && !rows.empty()) {
    if (Status added = tables_.add_batch(number_, rows); !added) return added;
    batched_ += rows.size();
  }
  return tables_.commit();
}

Status SqliteTransaction::add_to_batch(std::string_view key,
                                       std::optional<std::string_view> value) {
  batch_.add(key, value);
  if (batch_.encoded().size() <= kMostInBatch) return success();
  in_batch_ = false;
  if (Status moved = move_batches(); !moved) return moved;
  RowChanges changes;
  changes.add(batch_.encoded());
  return write(changes);
}

Status SqliteTransaction::write(const RowChanges& changes) {
  for (const auto& [key, value] : changes.rows()) {
    if (Status done = value ? tables_.put(key, *value) : tables_.erase(key); !done) return done;
  }
  return success();
}

Status SqliteTransaction::move_batches() {
  if (batched_ == 0) return success();
  const Result<RowChanges> changes = tables_.batches();
  if (!changes) return changes.error();
  if (Status written = write(*changes); !written) return written;
  batched_ = 0;
  return tables_.drop_batches();
}

}  // namespace trainwatch
