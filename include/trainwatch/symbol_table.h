// Interned names. Event names repeat millions of times; inside the pipeline a name is a 4-byte
// Symbol, and text appears only where a person reads it.
//
// Single-threaded, owned by the engine. Bounded: once `max_symbols` distinct names are known every
// further new name becomes Symbol::other, and `dropped()` counts them.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/state_io.h"

namespace trainwatch {

enum class Symbol : std::uint32_t { none = 0, other = 1 };

class SymbolTable {
 public:
  explicit SymbolTable(std::size_t max_symbols = 1U << 18U) : max_symbols_(max_symbols) {
    slots_.resize(1024);
    texts_.emplace_back();             // Symbol::none
    texts_.emplace_back("__other__");  // Symbol::other
  }

  Symbol intern(std::string_view text) {
    if (text.empty()) return Symbol::none;
    const std::uint32_t hash = hash_of(text);
    for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
      Slot& slot = slots_[i];
      if (slot.symbol == Symbol::none) return insert(text, hash);
      if (slot.hash == hash && texts_[index(slot.symbol)] == text) return slot.symbol;
    }
  }

  std::string_view text(Symbol symbol) const { return texts_[index(symbol)]; }
  std::size_t size() const { return texts_.size(); }
  std::uint64_t dropped() const { return dropped_; }
  std::size_t limit() const { return max_symbols_; }

  // Symbols keep their numbers: other saved state refers to them.
  void state(StateIo& io) {
    io(texts_);
    io(dropped_);
    if (!io.is_loading()) return;
    slots_.assign(1024, Slot{});
    while (texts_.size() * 2 > slots_.size()) slots_.resize(slots_.size() * 2);
    for (std::size_t i = 2; i < texts_.size(); ++i) {
      place(Slot{hash_of(texts_[i]), static_cast<Symbol>(i)});
    }
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    Symbol symbol = Symbol::none;
  };

  static std::size_t index(Symbol symbol) { return static_cast<std::size_t>(symbol); }
  std::size_t mask() const { return slots_.size() - 1; }

  static std::uint32_t hash_of(std::string_view text) {
    std::uint64_t h = text.size() * 0x9E3779B97F4A7C15ULL;
    const char* p = text.data();
    std::size_t n = text.size();
    for (; n >= 8; p += 8, n -= 8) h = mix(h, load(p, 8));
    if (n > 0) h = mix(h, load(p, n));
    return static_cast<std::uint32_t>(h ^ (h >> 32U));
  }
  static std::uint64_t load(const char* p, std::size_t n) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, n);
    return word;
  }
  static std::uint64_t mix(std::uint64_t h, std::uint64_t word) {
    h = (h ^ word) * 0x9E3779B97F4A7C15ULL;
    return h ^ (h >> 32U);
  }

  Symbol insert(std::string_view text, std::uint32_t hash) {
    if (texts_.size() >= max_symbols_) {
      ++dropped_;
      return Symbol::other;
    }
    texts_.emplace_back(text);
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
  std::uint64_t dropped_ = 0;
  std::vector<Slot> slots_;
  std::deque<std::string> texts_;  // a deque: text() views stay valid while it grows
};

}  // namespace trainwatch
