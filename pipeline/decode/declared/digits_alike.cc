// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/digits_alike.h"

#include <algorithm>
#include <cstddef>

#include "pipeline/decode/decimal_time.h"

namespace trainwatch {
namespace {

// The functions return how much of a pattern, which begins here, is one piece that takes digits
// alike; 0: it does not, or may not.

// Beside punctuation: classes and places that do not tell digits apart, and control characters.
std::size_t escaped(std::string_view text) {
  if (text.size() < 2) return 0;
  const char c = text[1];
  const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
  const bool known = std::string_view{"dDwWsSbBAzntrfv"}.find(c) != std::string_view::npos;
  return is_digit(c) || (letter && !known) ? 0 : 2;
}

std::size_t in_brackets(std::string_view text) {
  const std::size_t first = text.starts_with("[^") ? 2 : 1;
  for (std::size_t at = first; at < text.size();) {
    if (text[at] == ']' && at > first) return at + 1;
    if (text.substr(at).starts_with("[:")) return 0;
    const bool begins = at == first || text[at - 1] != '-' || at - 1 == first;
    std::size_t size = is_digit(text[at]) ? 0 : 1;
    if (text[at] == '\\') size = escaped(text.substr(at));
    if (begins && text.substr(at).starts_with("0-9")) size = 3;
    if (size == 0) return 0;
    at += size;
  }
  return 0;
}

// "{2}", "{1,3}"; other braces are themselves.
std::size_t count(std::string_view text) {
  const std::size_t end = text.find('}');
  if (end == std::string_view::npos) return 1;
  const std::string_view inside = text.substr(1, end - 1);
  return inside.find_first_not_of("0123456789,") == std::string_view::npos ? end + 1 : 1;
}

std::size_t piece(std::string_view text) {
  if (text.front() == '\\') return escaped(text);
  if (text.front() == '[') return in_brackets(text);
  if (text.front() == '{') return count(text);
  if (text.starts_with("(?P<")) return text.find('>') + 1;
  return is_digit(text.front()) ? 0 : 1;
}

}  // namespace

bool takes_digits_alike(std::string_view pattern) {
  while (!pattern.empty()) {
    const std::size_t size = piece(pattern);
    if (size == 0) return false;
    pattern.remove_prefix(std::min(size, pattern.size()));
  }
  return true;
}

}  // namespace trainwatch
