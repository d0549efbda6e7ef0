#include "pipeline/decode/json_cursor.h"

#include <cstddef>
#include <cstring>

namespace trainwatch {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

}  // namespace

void JsonCursor::skip_space() {
  while (p_ != end_ && is_space(*p_)) ++p_;
}

bool JsonCursor::at_end() {
  skip_space();
  return p_ == end_;
}

bool JsonCursor::skip_string() {
  const char* from = p_ + 1;
  for (;;) {
    const auto left = static_cast<std::size_t>(end_ - from);
    const auto* quote = static_cast<const char*>(std::memchr(from, '"', left));
    if (quote == nullptr) return fail(true);
    const char* text_end = quote;
    while (text_end != p_ + 1 && text_end[-1] == '\\') --text_end;
    from = quote + 1;
    if ((quote - text_end) % 2 != 0) continue;
    p_ = quote + 1;
    return true;
  }
}

bool JsonCursor::skip_nested() {
  std::size_t depth = 0;
  while (p_ != end_) {
    const char c = *p_;
    if (c == '"') {
      if (!skip_string()) return false;
      continue;
    }
    ++p_;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return true;
  }
  return fail(true);
}

bool JsonCursor::enter() {
  skip_space();
  if (p_ == end_ || *p_ != '{') return fail(p_ == end_);
  ++p_;
  first_ = true;
  return true;
}

bool JsonCursor::next(std::string_view& key) {
  if (failed_) return false;
  bool separated = first_;
  for (;; ++p_) {
    skip_space();
    if (p_ == end_) return fail(true);
    if (*p_ != ',') break;
    separated = true;
  }
  first_ = false;
  if (*p_ == '}') {
    ++p_;
    return false;
  }
  if (*p_ != '"' || !separated) return fail();
  const char* const begin = p_ + 1;
  // Keys are short: a loop beats a call of memchr.
  const char* quote = begin;
  while (quote != end_ && *quote != '"' && *quote != '\\') ++quote;
  if (quote == end_) return fail(true);
  if (*quote == '\\') {
    if (!skip_string()) return false;
    quote = p_ - 1;
  }
  key = {begin, static_cast<std::size_t>(quote - begin)};
  p_ = quote + 1;
  skip_space();
  if (p_ == end_ || *p_ != ':') return fail(p_ == end_);
  ++p_;
  skip_space();
  return true;
}

std::string_view JsonCursor::value() {
  const char* const begin = p_;
  if (p_ == end_) {
    fail(true);
  } else if (*p_ == '"') {
    skip_string();
  } else if (*p_ == '{' || *p_ == '[') {
    skip_nested();
  } else {
    while (p_ != end_ && *p_ != ',' && *p_ != '}' && *p_ != ']' && !is_space(*p_)) ++p_;
  }
  return {begin, static_cast<std::size_t>(p_ - begin)};
}

}  // namespace trainwatch
