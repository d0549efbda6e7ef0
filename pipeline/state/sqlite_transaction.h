// SPDX-License-Identifier: Apache-2.0
// The transaction of one commit, and where its rows of state go: each to its place in the table
// `state`, or all of them into one row of the table `batch`, which is faster now. The next
// transaction that writes to `state` moves the batches there first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "pipeline/state/row_batch.h"
#include "pipeline/state/sqlite_tables.h"
#include "pipeline/state/state_store.h"

namespace trainwatch {

class SqliteTransaction final : public StateRowWriter {
 public:
  // More is not faster in one piece.
  static constexpr std::size_t kMostInBatch = std::size_t{256} << 10U;
  // Of all batches together.
  static constexpr std::size_t kMostBatched = std::size_t{1} << 20U;

  // `batched`: bytes in batches now. `number` is greater than that of every batch.
  SqliteTransaction(SqliteTables& tables, std::size_t batched, std::uint64_t number)
      : tables_(tables), batched_(batched), number_(number) {}

  // Writes the rows as one batch if they are few enough. Before the first.
  void prefer_batch() { in_batch_ = batched_ < kMostBatched; }

  Status begin();
  bool begun() const { return begun_; }
  Status put(const std::string& key, std::string_view value) override;
  Status erase(const std::string& key) override;
  Status commit();
  // Bytes in batches after commit().
  std::size_t batched() const { return batched_; }

 private:
  Status add_to_batch(std::string_view key, std::optional<std::string_view> value);
  Status write(const RowChanges& changes);
  Status move_batches();

  SqliteTables& tables_;
  std::size_t batched_;
  std::uint64_t number_;
  RowBatch batch_;
  bool in_batch_ = false;
  bool begun_ = false;
};

}  // namespace trainwatch
