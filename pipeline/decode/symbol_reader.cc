// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/symbol_reader.h"

#include <algorithm>

#include "pipeline/decode/short_text.h"

namespace trainwatch {

bool SymbolReader::read(std::string_view token, Symbol& symbol) {
  if (token.size() < kShortest || token.size() > kLongest) return look_up(token, symbol);
  const std::uint64_t ends =
      load<std::uint64_t>(token.data()) * 31 + load<std::uint64_t>(token.data() + token.size() - 8);
  std::uint8_t& number = slot_of_[(ends * 0x9E3779B97F4A7C15ULL) >> 59U];
  const Slot& known = slots_[number];
  if (known.size == token.size() && same_bytes(known.token.data(), token.data(), token.size())) {
    symbol = known.symbol;
    return true;
  }
  if (!look_up(token, symbol)) return false;
  // Symbol::other is not kept: the table counts how often it is the answer.
  if (symbol == Symbol::other) return true;
  if (number == 0) {
    number = static_cast<std::uint8_t>(slots_.size());
    slots_.emplace_back();
  }
  Slot& slot = slots_[number];
  std::copy(token.begin(), token.end(), slot.token.begin());
  slot.size = static_cast<std::uint32_t>(token.size());
  slot.symbol = symbol;
  return true;
}

bool SymbolReader::look_up(std::string_view token, Symbol& symbol) {
  const auto text = strings_.read(token);
  if (text) symbol = symbols_.intern(*text);
  return text.has_value();
}

}  // namespace trainwatch
