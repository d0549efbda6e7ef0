// SPDX-License-Identifier: Apache-2.0
// Turns string tokens into symbols. A file repeats a few names for ever, so the answers are kept.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "pipeline/decode/json_cursor.h"
#include "trainwatch/symbol_table.h"

namespace trainwatch {

class SymbolReader {
 public:
  // The table outlives the reader and keeps its numbers.
  explicit SymbolReader(SymbolTable& symbols) : symbols_(symbols) {}

  // The symbol of a string. False: see StringReader::read.
  bool read(std::string_view token, Symbol& symbol);
  std::optional<Symbol> read(std::string_view token) {
    Symbol symbol{};
    return read(token, symbol) ? std::optional(symbol) : std::nullopt;
  }

 private:
  static constexpr std::size_t kShortest = 8;  // of the tokens that are kept, with their quotes
  static constexpr std::size_t kLongest = 56;

  struct Slot {
    std::array<char, kLongest> token{};
    std::uint32_t size = 0;
    Symbol symbol{};
  };

  bool look_up(std::string_view token, Symbol& symbol);

  SymbolTable& symbols_;
  StringReader strings_;
  std::array<std::uint8_t, 32> slot_of_{};  // by hash
  std::vector<Slot> slots_{1};              // the first is nobody's
};

}  // namespace trainwatch
