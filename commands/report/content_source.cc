// SPDX-License-Identifier: Apache-2.0
#include "commands/report/content_source.h"

#include <cstdint>

namespace trainwatch {
namespace {

std::uint32_t hex_digit(char c) {
  return static_cast<std::uint32_t>(c >= 'a' ? c - 'a' + 10 : c - '0');
}

}  // namespace

std::string content_source(std::string_view hash) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::uint32_t kBitsOfHex = 4;
  constexpr std::uint32_t kBitsOfDigit = 6;
  std::string text = "sha256-";
  std::uint32_t bits = 0;
  std::uint32_t waiting = 0;  // bits that make no digit yet
  for (const char c : hash) {
    bits = bits << kBitsOfHex | hex_digit(c);
    waiting += kBitsOfHex;
    if (waiting < kBitsOfDigit) continue;
    waiting -= kBitsOfDigit;
    text += kDigits[bits >> waiting & 0x3FU];
  }
  if (waiting > 0) text += kDigits[bits << (kBitsOfDigit - waiting) & 0x3FU];
  while ((text.size() - 7) % 4 != 0) text += '=';
  return text;
}

}  // namespace trainwatch
