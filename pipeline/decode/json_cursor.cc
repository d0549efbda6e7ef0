#include "pipeline/decode/json_cursor.h"

#include <cstddef>

namespace trainwatch {

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

}  // namespace trainwatch
