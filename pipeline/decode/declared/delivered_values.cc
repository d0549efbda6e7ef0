// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/delivered_values.h"

namespace trainwatch {
namespace {

// FNV-1a: the same after every restart.
std::uint32_t hash_of(std::int64_t step, std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&hash](std::uint64_t byte) { hash = (hash ^ byte) * 0x100000001b3ULL; };
  for (unsigned shift = 0; shift < 64; shift += 8) {
    add((static_cast<std::uint64_t>(step) >> shift) & 0xFFU);
  }
  for (const char c : text) add(static_cast<unsigned char>(c));
  return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
}

}  // namespace

bool DeliveredValues::is_new(std::string_view column, std::int64_t step, std::string_view text) {
  auto found = now_.find(column);
  if (found == now_.end()) {
    if (now_.size() >= kMostColumns) return true;
    found = now_.emplace(column, Column{}).first;
  }
  Column& now = found->second;
  const std::uint64_t number = now.values++;
  const std::uint32_t hash = hash_of(step, text);
  if (hashes_ < kMostHashes && now.hashes.size() == number) {
    now.hashes.push_back(hash);
    ++hashes_;
  }
  if (former_.empty()) return true;
  const auto before = former_.find(column);
  if (before == former_.end() || number >= before->second.values) return true;
  const auto& hashes = before->second.hashes;
  if (number < hashes.size() && hashes[number] != hash) former_.clear();
  return former_.empty();
}

void DeliveredValues::begin_anew(const std::string& former) {
  StateIo io = StateIo::loading(former);
  DeliveredValues old;
  old.state(io);
  if (!io.complete()) return;
  former_ = std::move(old.now_);
}

// While the former content is being repeated, the longer list of a column is what was emitted.
std::string DeliveredValues::known() const {
  DeliveredValues all;
  all.now_ = now_;
  for (const auto& [name, column] : former_) {
    Column& known = all.now_[name];
    if (known.values < column.values) known = column;
  }
  StateIo io = StateIo::saving();
  all.state(io);
  return io.take();
}

void DeliveredValues::columns_state(StateIo& io, Columns& columns) {
  std::vector<std::pair<std::string, Column>> all{columns.begin(), columns.end()};
  io(all);
  if (!io.is_loading()) return;
  if (all.size() > 2 * kMostColumns) return io.fail();
  columns.clear();
  for (auto& [name, column] : all) columns.emplace(std::move(name), std::move(column));
}

void DeliveredValues::state(StateIo& io) {
  columns_state(io, now_);
  columns_state(io, former_);
  hashes_ = 0;
  for (const auto& [name, column] : now_) hashes_ += column.hashes.size();
}

}  // namespace trainwatch
