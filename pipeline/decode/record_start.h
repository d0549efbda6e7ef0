// SPDX-License-Identifier: Apache-2.0
// Finds by layout where something begins again after damage, when quotes and brackets are out of
// step: a '{' that begins a line or follows a comma, and before a key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainwatch/state_io.h"

namespace trainwatch {

// The key that all events of a trace have, and nothing else around them.
inline constexpr std::string_view kPhaseKey = "ph";
inline constexpr std::string_view kPhase = "\"ph\"";

// The white space of JSON.
inline bool is_json_space(char c) {
  constexpr std::uint64_t kSpaces = 0x100002600;  // a bit for each of the four
  const auto byte = static_cast<unsigned char>(c);
  return byte <= ' ' && (kSpaces >> byte & 1U) != 0;
}

class RecordStart {
 public:
  enum class Found : std::uint8_t {
    nothing,
    record,     // this quote is the first of an object; see held()
    array_end,  // a ']' that begins a line or follows a bracket
    key,        // this quote may begin a member
  };

  // As if the last thing read were a comma.
  static RecordStart after_comma() {
    RecordStart start;
    start.before_ = Before::comma;
    return start;
  }

  Found take(char c) {
    if (!held_.empty()) {
      if (c == '"') return Found::record;
      if (is_json_space(c) && held_.size() < kMaxHeld) {
        held_ += c;
        return Found::nothing;
      }
      held_.clear();
      before_ = Before::opening;
    }
    const bool line_or_comma = before_ == Before::line_break || before_ == Before::comma;
    if (c == '{' && line_or_comma) {
      held_ = c;
      return Found::nothing;
    }
    const bool ends = c == ']' && (before_ == Before::line_break || before_ == Before::closing);
    const bool key = c == '"' && (line_or_comma || before_ == Before::opening);
    before_ = after(c);
    if (ends) return Found::array_end;
    return key ? Found::key : Found::nothing;
  }

  // The bytes of the object so far: its '{' and the white space behind that.
  const std::string& held() const { return held_; }

  void state(StateIo& io) {
    io(before_);
    io(held_);
    if (before_ >= Before::count_ || held_.size() > kMaxHeld) io.fail();
  }

 private:
  static constexpr std::size_t kMaxHeld = 256;

  // The last thing read, but for white space inside a line.
  enum class Before : std::uint8_t { other, line_break, comma, opening, closing, count_ };

  Before after(char c) const {
    switch (c) {
      case '\n':
        return Before::line_break;
      case ',':
        return Before::comma;
      case '{':
        return Before::opening;
      case '}':
      case ']':
        return Before::closing;
      default:  // control characters, as of a hole in the file, are like white space
        return static_cast<unsigned char>(c) <= ' ' ? before_ : Before::other;
    }
  }

  Before before_ = Before::other;
  std::string held_;
};

}  // namespace trainwatch
