// SPDX-License-Identifier: Apache-2.0
#include "pipeline/state/stored_hashes.h"

#include <xxhash.h>

#include <algorithm>

namespace trainwatch {

std::uint64_t StoredHashes::hash_of(std::string_view value) {
  return std::max<std::uint64_t>(XXH3_64bits(value.data(), value.size()), kNone + 1);
}

void StoredHashes::add(const std::string& key, std::string_view value) {
  Row& row = rows_[key];
  row.stored = row.now = hash_of(value);
}

void StoredHashes::change(Rows::value_type& row, std::uint64_t now) {
  if (row.second.changed_in != round_) changed_.push_back(&row);
  row.second.changed_in = round_;
  row.second.now = now;
}

Status StoredHashes::write_row(StateRowWriter& writer, const std::string& key,
                               std::string_view value) {
  Rows::value_type& row = *rows_.try_emplace(key).first;
  row.second.put_in = round_;
  const std::uint64_t hash = hash_of(value);
  if (row.second.now == hash) return success();
  change(row, hash);
  return writer.put(key, value);
}

Status StoredHashes::erase_row(StateRowWriter& writer, const std::string& key) {
  const auto row = rows_.find(key);
  if (row == rows_.end() || row->second.now == kNone) return success();
  change(*row, kNone);
  return writer.erase(key);
}

Status StoredHashes::erase_others(StateRowWriter& writer) {
  for (Rows::value_type& row : rows_) {
    if (row.second.put_in == round_ || row.second.now == kNone) continue;
    change(row, kNone);
    if (Status done = writer.erase(row.first); !done) return done;
  }
  return success();
}

void StoredHashes::committed() {
  for (Rows::value_type* const row : changed_) {
    row->second.stored = row->second.now;
    if (row->second.now == kNone) rows_.erase(rows_.find(row->first));
  }
  changed_.clear();
}

void StoredHashes::failed() {
  for (Rows::value_type* const row : changed_) {
    row->second.now = row->second.stored;
    if (row->second.now == kNone) rows_.erase(rows_.find(row->first));
  }
  changed_.clear();
}

}  // namespace trainwatch
