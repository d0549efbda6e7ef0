// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/json_cursor.h"

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "pipeline/decode/short_text.h"

namespace trainwatch {
namespace {

// A high bit if a byte is a backslash, a control character or above 0x7F.
std::uint64_t odd_bytes(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
  constexpr std::uint64_t kHigh = 0x8080808080808080ULL;
  const std::uint64_t slash = word ^ (kOnes * '\\');
  return (word | (word - kOnes * ' ') | ((slash - kOnes) & ~slash)) & kHigh;
}

// True when no byte is odd.
bool is_plain(std::string_view text) {
  const char* const p = text.data();
  std::uint64_t odd = 0;
  if (text.size() < 8) {
    for (const char c : text)
      odd |= odd_bytes(0x2020202020202000ULL | static_cast<unsigned char>(c));
    return odd == 0;
  }
  for (std::size_t at = 0; at < text.size() - 8; at += 8) {
    odd |= odd_bytes(load<std::uint64_t>(p + at));
  }
  return (odd | odd_bytes(load<std::uint64_t>(p + text.size() - 8))) == 0;  // some once more
}

}  // namespace

const char* JsonCursor::behind_space(const char* from) const {
  for (;; ++from) {
    from = find_neither(from, end_, ' ', '\n');
    if (from == end_ || !is_space(*from)) return from;
  }
}

bool JsonCursor::enter() {
  skip_space();
  if (p_ == end_ || *p_ != '{') return fail(p_ == end_);
  ++p_;
  first_ = true;
  return true;
}

bool JsonCursor::skip_escaped_string(const char* backslash) {
  for (const char* at = backslash; end_ - at >= 2;) {
    at = quote_or_backslash(at + 2);  // whatever follows a backslash is part of the string
    if (at == end_) break;
    if (*at == '\\') continue;
    p_ = at + 1;
    return true;
  }
  return fail(true);
}

bool JsonCursor::skip_nested() {
  std::uint64_t open = 1;  // one bit for each bracket, 1 for an object; the last one lowest
  while (p_ != end_) {
    const char c = *p_;
    if (c == '"') {
      if (!skip_string()) return false;
      continue;
    }
    ++p_;
    const std::uint64_t object = c == '{' || c == '}' ? 1 : 0;
    if (c == '{' || c == '[') {
      if (open >> 63U != 0) return fail();
      open = open << 1U | object;
    } else if (c == '}' || c == ']') {
      if ((open & 1U) != object) return fail();
      open >>= 1U;
      if (open == 1) return true;
    }
  }
  return fail(true);
}

bool is_well_formed(std::string_view text) {
  JsonCursor cursor{text};
  if (!cursor.enter()) return false;
  for (std::string_view key; cursor.next(key);) cursor.value();
  return !cursor.failed() && cursor.at_end();
}

struct StringReader::Parser {
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  std::string copy;
};

StringReader::StringReader() = default;
StringReader::~StringReader() = default;

std::optional<std::string_view> StringReader::read(std::string_view token) {
  if (!is_string_token(token)) return std::nullopt;
  const std::string_view inside = between_quotes(token);
  if (is_plain(inside)) return inside;
  if (parser_ == nullptr) parser_ = std::make_unique<Parser>();
  parser_->copy.assign(token);
  parser_->copy.reserve(token.size() + simdjson::SIMDJSON_PADDING);
  std::string_view text;
  if (parser_->parser.iterate(parser_->copy).get(parser_->document) != simdjson::SUCCESS ||
      parser_->document.get_string().get(text) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return text;
}

RejectReason unreadable(std::string_view token) {
  constexpr std::string_view kEscapes = "\"\\/bfnrtu";
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  const std::string_view text = between_quotes(token);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) < ' ') return RejectReason::syntax;
    if (text[i] != '\\') continue;
    const std::string_view escape = text.substr(i + 1, 5);
    if (escape.empty() || kEscapes.find(escape[0]) == std::string_view::npos) {
      return RejectReason::syntax;
    }
    ++i;
    if (escape[0] != 'u') continue;
    const bool four_more = escape.size() == 5;
    if (!four_more || escape.find_first_not_of(kHex, 1) != std::string_view::npos) {
      return RejectReason::syntax;
    }
  }
  return RejectReason::utf8;
}

struct JsonValidator::Parser {
  simdjson::dom::parser dom;
  std::string copy;
};

JsonValidator::JsonValidator() : parser_(std::make_unique<Parser>()) {}
JsonValidator::~JsonValidator() = default;

bool JsonValidator::is_object(std::string_view text) {
  std::string& copy = parser_->copy;
  copy.assign(text);
  copy.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  simdjson::dom::element parsed;
  if (parser_->dom.parse(copy.data(), copy.size(), false).get(parsed) != simdjson::SUCCESS) {
    return false;
  }
  return parsed.is_object();
}

}  // namespace trainwatch
