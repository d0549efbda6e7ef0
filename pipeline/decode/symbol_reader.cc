#include "pipeline/decode/symbol_reader.h"

#include <algorithm>

#include "pipeline/decode/short_text.h"

namespace trainwatch {

std::optional<Symbol> SymbolReader::read(std::string_view token) {
  if (token.size() < kShortest || token.size() > kLongest) return look_up(token);
  const std::uint64_t ends =
      load<std::uint64_t>(token.data()) * 31 + load<std::uint64_t>(token.data() + token.size() - 8);
  std::uint8_t& number = slot_of_[(ends * 0x9E3779B97F4A7C15ULL) >> 59U];
  const Slot& known = slots_[number];
  if (known.size == token.size() && same_bytes(known.token.data(), token.data(), token.size())) {
    return known.symbol;
  }
  const auto symbol = look_up(token);
  // Symbol::other is not kept: the table counts how often it is the answer.
  if (symbol && *symbol != Symbol::other) {
    if (number == 0) {
      number = static_cast<std::uint8_t>(slots_.size());
      slots_.emplace_back();
    }
    Slot& slot = slots_[number];
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
