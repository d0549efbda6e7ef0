// SPDX-License-Identifier: Apache-2.0
// Maps a tuple of tokens, such as the type, name, dimension and node of a series, to a number.
// Looking one up copies nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/decode/short_text.h"

namespace trainwatch {

template <std::size_t kTokens>
class TokenTable {
 public:
  using Tokens = std::array<std::string_view, kTokens>;

  std::optional<std::uint32_t> find(const Tokens& tokens) const {
    if (slots_.empty()) return std::nullopt;
    const std::size_t hash = hash_of(tokens);
    for (std::size_t at = static_cast<std::uint32_t>(hash) & mask(); slots_[at].entry != kNone;
         at = (at + 1) & mask()) {
      const Entry& entry = entries_[slots_[at].entry];
      if (slots_[at].hash == static_cast<std::uint32_t>(hash) && is(entry, tokens)) {
        return entry.number;
      }
    }
    return std::nullopt;
  }
  // They are not in the table.
  void add(const Tokens& tokens, std::uint32_t number) {
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    Entry& entry = entries_.emplace_back();
    entry.number = number;
    for (std::size_t i = 0; i < kTokens; ++i) {
      entry.text += tokens[i];
      entry.ends[i] = entry.text.size();
    }
    bytes_ += entry.text.size();
    put({static_cast<std::uint32_t>(hash_of(tokens)),
         static_cast<std::uint32_t>(entries_.size() - 1)});
  }
  // Of all tokens.
  std::size_t bytes() const { return bytes_; }
  // About how much memory it takes.
  std::size_t memory() const {
    return bytes_ + entries_.size() * (sizeof(Entry) + 16) + slots_.size() * sizeof(Slot);
  }
  void clear() {
    entries_.clear();
    slots_.clear();
    bytes_ = 0;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Entry {
    std::string text;
    std::array<std::size_t, kTokens> ends{};  // of each token in it
    std::uint32_t number = 0;
  };
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t entry = kNone;
  };

  static std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
    return hash ^ (hash >> 32U);
  }
  static std::uint64_t mix(std::uint64_t hash, std::string_view token) {
    const char* const p = token.data();
    const std::size_t size = token.size();
    hash = mix(hash, std::uint64_t{size});
    if (size >= 8) {
      for (std::size_t at = 0; at + 8 < size; at += 8)
        hash = mix(hash, load<std::uint64_t>(p + at));
      return mix(hash, load<std::uint64_t>(p + size - 8));
    }
    if (size >= 4) {
      return mix(hash,
                 std::uint64_t{load<std::uint32_t>(p)} << 32U | load<std::uint32_t>(p + size - 4));
    }
    for (const char c : token) hash = mix(hash, static_cast<unsigned char>(c));
    return hash;
  }
  static std::size_t hash_of(const Tokens& tokens) {
    std::uint64_t hash = 0;
    for (const std::string_view token : tokens) hash = mix(hash, token);
    return hash;
  }
  static bool is(const Entry& entry, const Tokens& tokens) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < kTokens; ++i) {
      const std::size_t size = entry.ends[i] - begin;
      if (size != tokens[i].size()) return false;
      if (!same_bytes(entry.text.data() + begin, tokens[i].data(), size)) return false;
      begin = entry.ends[i];
    }
    return true;
  }

  std::size_t mask() const { return slots_.size() - 1; }
  void put(Slot slot) {
    std::size_t at = slot.hash & mask();
    while (slots_[at].entry != kNone) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  void grow() {
    const std::vector<Slot> before(std::move(slots_));
    slots_.assign(before.empty() ? 64 : 2 * before.size(), {});
    for (const Slot& slot : before) {
      if (slot.entry != kNone) put(slot);
    }
  }

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // a power of two, at most half full
  std::size_t bytes_ = 0;
};

}  // namespace trainwatch
