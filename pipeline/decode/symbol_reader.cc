#include "pipeline/decode/symbol_reader.h"

#include <algorithm>

#include "pipeline/decode/short_text.h"

namespace trainwatch {

std::optional<Symbol> SymbolReader::read(std::string_view token) {
  if (token.size() < kShortest || token.size() > kLongest) return look_up(token);
  const std::uint64_t ends =
      load<std::uint64_t>(token.data()) * 31 + load<std::uint64_t>(token.data() + token.size() - 8);
  Slot& slot = slots_[(ends * 0x9E3779B97F4A7C15ULL) >> 59U];
  if (slot.size == token.size() && same_bytes(slot.token.data(), token.data(), token.size())) {
    return slot.symbol;
  }
  const auto symbol = look_up(token);
  // Symbol::other is not kept: the table counts how often it is the answer.
  if (symbol && *symbol != Symbol::other) {
    std::copy(token.begin(), token.end(), slot.token.begin());
    slot.size = static_cast<std::uint32_t>(token.size());
    slot.symbol = *symbol;
  }
  return symbol;
}

std::optional<Symbol> SymbolReader::look_up(std::string_view token) {
  const auto text = strings_.read(token);
  if (!text) return std::nullopt;
  return symbols_.intern(*text);
}

}  // namespace trainwatch
