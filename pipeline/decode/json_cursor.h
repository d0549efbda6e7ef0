// SPDX-License-Identifier: Apache-2.0
// Reads one complete JSON record: its members as raw text (JsonCursor), the text of its strings
// (StringReader), and whether it is valid at all (JsonValidator).
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/decode/record_start.h"
#include "pipeline/decode/short_text.h"
#include "trainwatch/diagnostics.h"

namespace trainwatch {

// Reads the members of a record front to back, as raw text and without copying.
//
// Tolerant where writers are known to be wrong (bare N/A, NaN or inf, nothing at all as a value, a
// comma behind the last member), and only as far as it is asked: of a value that nobody reads, only
// brackets and the ends of strings are checked. It never looks outside its text. Nesting is
// counted, not recursed into. What runs for every event is in this header, because a call costs as
// much as the work.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : p_(text.data()), end_(p_ + text.size()) {}

  // Enters the object at the current position. False: there is no object.
  bool enter();

  // The next key of the object that was entered last; its value must be consumed before the next
  // call. False at the end of that object, which is left, or when the text is broken: see failed().
  bool next(std::string_view& key);

  // Consumes the value of the current key. Strings come with their quotes; objects
  // and arrays whole; a missing value is "".
  std::string_view value();

  // For callers that expect a particular layout. On a mismatch both return false and leave the
  // cursor unchanged. Do not call next() afterwards.
  // Skips `expected` if it comes next.
  bool skip_text(std::string_view expected);
  // The same as value(), but only if a value that is no object begins here.
  bool value_at_once(std::string_view& value);

  // Nothing but white space is left.
  bool at_end() {
    skip_space();
    return p_ == end_;
  }

  std::string_view rest() const { return {p_, static_cast<std::size_t>(end_ - p_)}; }
  bool at_object() const { return p_ != end_ && *p_ == '{'; }
  bool failed() const { return failed_; }
  // It failed only because the text ended too early.
  bool ran_out() const { return ran_out_; }

 private:
  static bool is_space(char c) { return is_json_space(c); }
  // Most often nothing or one space; more is mostly indentation.
  void skip_space() {
    if (p_ != end_ && *p_ == ' ') ++p_;
    if (p_ != end_ && static_cast<unsigned char>(*p_) <= ' ') p_ = behind_space(p_);
  }
  const char* behind_space(const char* from) const;
  // The first quote or backslash from `from` on, or the end.
  const char* quote_or_backslash(const char* from) const {
    return find_either(from, end_, '"', '\\');
  }
  bool skip_string();  // p_ stands on the opening quote
  bool skip_escaped_string(const char* backslash);
  bool skip_nested();  // p_ stands on { or [
  void skip_bare();    // anything else
  bool fail(bool at_end = false) {
    failed_ = true;
    ran_out_ = at_end;
    return false;
  }

  const char* p_;
  const char* end_;
  bool first_ = true;  // no member of the current object was read yet
  bool failed_ = false;
  bool ran_out_ = false;
};

inline bool JsonCursor::skip_string() {
  const char* const stop = quote_or_backslash(p_ + 1);
  if (stop == end_) return fail(true);
  if (*stop == '\\') return skip_escaped_string(stop);
  p_ = stop + 1;
  return true;
}

inline void JsonCursor::skip_bare() {
  p_ = find_bare_end(p_, end_);
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < ' ' && !is_space(c);
  };
  while (p_ != end_ && is_control(*p_)) p_ = find_bare_end(p_ + 1, end_);
}

inline bool JsonCursor::next(std::string_view& key) {
  if (failed_) return false;
  skip_space();
  if (p_ == end_) return fail(true);
  bool separated = first_;
  if (*p_ == ',' && !first_) {
    separated = true;
    ++p_;
    skip_space();
    if (p_ == end_) return fail(true);
  }
  first_ = false;
  if (*p_ == '}') {
    ++p_;
    return false;
  }
  if (*p_ != '"' || !separated) return fail();
  const char* const begin = p_ + 1;
  if (!skip_string()) return false;
  key = {begin, static_cast<std::size_t>(p_ - 1 - begin)};
  skip_space();
  if (p_ == end_ || *p_ != ':') return fail(p_ == end_);
  ++p_;
  skip_space();
  return true;
}

[[gnu::always_inline]] inline std::string_view JsonCursor::value() {
  const char* const begin = p_;
  if (p_ == end_) {
    fail(true);
  } else if (*p_ == '"') {
    skip_string();
  } else if (*p_ == '{' || *p_ == '[') {
    skip_nested();
  } else {
    skip_bare();
  }
  return {begin, static_cast<std::size_t>(p_ - begin)};
}

inline bool JsonCursor::skip_text(std::string_view expected) {
  const std::size_t size = expected.size();
  if (static_cast<std::size_t>(end_ - p_) < size) return false;
  if (!same_bytes(p_, expected.data(), size)) return false;
  p_ += size;
  return true;
}

[[gnu::always_inline]] inline bool JsonCursor::value_at_once(std::string_view& value) {
  const char* const begin = p_;
  if (p_ == end_) return false;
  if (*p_ == '"') {
    if (!skip_string()) return false;
  } else if (*p_ == '[') {
    if (!skip_nested()) return false;
  } else {
    if (*p_ == '{' || is_space(*p_)) return false;
    skip_bare();
  }
  value = {begin, static_cast<std::size_t>(p_ - begin)};
  return true;
}

// An object as far as JsonCursor checks it, and nothing behind it.
bool is_well_formed(std::string_view text);

// True for a token in quotes.
inline bool is_string_token(std::string_view token) {
  return token.size() >= 2 && token.front() == '"' && token.back() == '"';
}

// What is between the quotes, escapes as written. Only for comparing with plain names.
inline std::string_view between_quotes(std::string_view token) {
  return is_string_token(token) ? token.substr(1, token.size() - 2) : std::string_view{};
}

// Turns string tokens into text. Plain ASCII, which nearly all are, is returned without a copy;
// simdjson handles escapes and UTF-8.
class StringReader {
 public:
  StringReader();
  ~StringReader();

  // nullopt: not a string, a bad escape, or not UTF-8. Valid until the next call or as long as the
  // token, whichever ends first.
  std::optional<std::string_view> read(std::string_view token);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;  // made when first needed
};

// Why StringReader cannot read a string: a bad escape or a control character is syntax; bytes that
// are no UTF-8, and half a surrogate pair, are utf8.
RejectReason unreadable(std::string_view token);

// Whether a text is strictly valid JSON, as other programs need it. Decoders do not ask: they read
// what they need of a record and do not check the rest.
class JsonValidator {
 public:
  JsonValidator();
  ~JsonValidator();

  // False also for text that is not UTF-8 and for numbers that fit neither 64 bits nor a double.
  bool is_object(std::string_view text);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace trainwatch
