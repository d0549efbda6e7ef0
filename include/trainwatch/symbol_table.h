// SPDX-License-Identifier: Apache-2.0
// Interned names. Event names repeat millions of times; inside the pipeline a name is a 4-byte
// Symbol, and text appears only where a person reads it.
//
// Names come from files, so each is made valid text of at most kLongestName bytes when it enters.
// Bounded in number and in bytes, and divided among those who fill it: a name that has no room
// becomes Symbol::other, and `dropped()` counts how often. Single-threaded, owned by the engine.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/shares.h"
#include "trainwatch/state_io.h"
#include "trainwatch/valid_text.h"

namespace trainwatch {

enum class Symbol : std::uint32_t { none = 0, other = 1 };

class SymbolTable {
 public:
  static constexpr std::size_t kLongestName = 256;  // bytes

  explicit SymbolTable(std::size_t max_symbols = 1U << 18U, std::size_t max_bytes = 16U << 20U)
      : max_symbols_(max_symbols), max_bytes_(max_bytes) {
    std::random_device random;
    seed_ = (std::uint64_t{random()} << 32U) | random();
    slots_.resize(1024);
    for (const std::string_view text : {"", "__other__"}) {  // Symbol::none and other
      texts_.emplace_back(text);
      shares_.add(kNobody);
    }
  }

  Symbol intern(std::string_view text) {
    if (text.empty()) return Symbol::none;
    const std::uint32_t hash = hash_of(text);
    const Symbol known = find(text, hash);
    if (known != Symbol::none) return known;
    if (text.size() <= kLongestName && is_valid_text(text)) return insert(text, hash);
    const std::string name = valid_name(text, kLongestName);
    const std::uint32_t name_hash = hash_of(name);
    const Symbol found = find(name, name_hash);
    return found != Symbol::none ? found : insert(name, name_hash);
  }
  // A name of `old`, for whoever held it there, even if that is more than its share by now.
  Symbol adopt(const SymbolTable& old, Symbol symbol) {
    if (symbol == Symbol::none || symbol == Symbol::other) return symbol;
    const std::string_view text = old.text(symbol);
    const std::uint32_t hash = hash_of(text);
    const Symbol known = find(text, hash);
    return known != Symbol::none ? known : add(text, hash, old.shares_.holder_of(index(symbol)));
  }

  std::string_view text(Symbol symbol) const { return texts_[index(symbol)]; }
  std::size_t size() const { return texts_.size(); }
  std::uint64_t dropped() const { return shares_.refused(); }
  // For whom names are interned from now on.
  void set_holder(Holder holder) { shares_.set_holder(holder); }
  void set_limits(std::size_t max_symbols, std::size_t max_bytes) {
    max_symbols_ = max_symbols;
    max_bytes_ = max_bytes;
  }
  std::size_t limit() const { return max_symbols_; }
  std::size_t bytes() const { return bytes_; }  // of all names
  // With the limits and the counts of this one, and no names.
  SymbolTable emptied() const {
    SymbolTable empty(max_symbols_, max_bytes_);
    empty.shares_.keep_refused(shares_);
    return empty;
  }

  // Symbols keep their numbers: other saved state refers to them.
  void state(StateIo& io) {
    io(texts_);
    shares_.state(io, texts_.size(), [this](std::size_t i) { return texts_[i].size(); });
    if (!io.is_loading()) return;
    slots_.assign(1024, Slot{});
    bytes_ = 0;
    while (texts_.size() * 2 > slots_.size()) slots_.resize(slots_.size() * 2);
    for (std::size_t i = 2; i < texts_.size(); ++i) {
      place(Slot{hash_of(texts_[i]), static_cast<Symbol>(i)});
      bytes_ += texts_[i].size();
    }
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    Symbol symbol = Symbol::none;
  };

  static std::size_t index(Symbol symbol) { return static_cast<std::size_t>(symbol); }
  std::size_t mask() const { return slots_.size() - 1; }

  // Multiply and fold, as wyhash does. The seed differs from table to table, so that nobody can
  // prepare names that collide.
  std::uint32_t hash_of(std::string_view text) const {
    std::uint64_t hash = fold(seed_ ^ text.size(), 0xA0761D6478BD642FULL);
    const char* p = text.data();
    std::size_t n = text.size();
    for (; n >= 8; p += 8, n -= 8) hash = fold(hash ^ load(p, 8), 0xE7037ED1A0B428DBULL ^ seed_);
    if (n > 0) hash = fold(hash ^ load(p, n), 0xE7037ED1A0B428DBULL ^ seed_);
    return static_cast<std::uint32_t>(fold(hash, 0x8EBC6AF09C88C6E3ULL));
  }
  static std::uint64_t load(const char* p, std::size_t n) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, n);
    return word;
  }
  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    __extension__ using Product = unsigned __int128;
    const Product product = static_cast<Product>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  }

  // Symbol::none: not known.
  Symbol find(std::string_view text, std::uint32_t hash) const {
    for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
      const Slot& slot = slots_[i];
      if (slot.symbol == Symbol::none) return Symbol::none;
      if (slot.hash == hash && texts_[index(slot.symbol)] == text) return slot.symbol;
    }
  }
  Symbol insert(std::string_view text, std::uint32_t hash) {
    const Room used{texts_.size(), bytes_};
    if (!shares_.may_take({1, text.size()}, used, {max_symbols_, max_bytes_})) {
      shares_.refuse();
      return Symbol::other;
    }
    return add(text, hash, shares_.holder());
  }
  Symbol add(std::string_view text, std::uint32_t hash, Holder holder) {
    texts_.emplace_back(text);
    shares_.add(holder, text.size());
    bytes_ += text.size();
    const auto symbol = static_cast<Symbol>(texts_.size() - 1);
    if (texts_.size() * 2 > slots_.size()) grow();
    place(Slot{hash, symbol});
    return symbol;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.symbol != Symbol::none) place(slot);
    }
  }
  void place(Slot slot) {
    std::size_t i = slot.hash & mask();
    while (slots_[i].symbol != Symbol::none) i = (i + 1) & mask();
    slots_[i] = slot;
  }

  std::size_t max_symbols_;
  std::size_t max_bytes_;
  std::uint64_t seed_ = 0;
  std::size_t bytes_ = 0;
  Shares shares_;
  std::vector<Slot> slots_;
  std::deque<std::string> texts_;  // a deque: text() views stay valid while it grows
};

}  // namespace trainwatch
