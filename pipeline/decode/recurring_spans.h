// SPDX-License-Identifier: Apache-2.0
// Spans that recur: a timeline repeats a few for ever, of which only the numbers differ that say
// when each was. A record that is equal to a learned one but for these needs no keys, no names and
// no look-ups.
//
// For one piece of a file. It has to be long, because each piece is learned anew: thousands of open
// files would remember what few of them use again soon.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "pipeline/decode/constant_parts.h"
#include "pipeline/decode/token_table.h"
#include "pipeline/decode/trace_event.h"
#include "trainwatch/event.h"

namespace trainwatch {

class RecurringSpans {
 public:
  static constexpr std::size_t kLeastBytes = 16384;  // of a piece that is worth it

  struct Times {
    std::int64_t start_ns = 0;  // as written
    std::int64_t duration_ns = 0;
  };

  // Finds the learned span that has the same text as the record except for times and step, which
  // are set to those of the record. Returns null if no span matches or if a number is written in an
  // unusual way. The pointer is valid until the next learn().
  const Span* read(std::string_view record, Times& times);

  // `span` is what the record says. `event`: its tokens, which point into it.
  void learn(std::string_view record, const TraceEvent& event, const Span& span);

  // What the names stand for has changed.
  void clear() { *this = {}; }

 private:
  enum class Number : std::uint8_t { start, duration, step };
  static constexpr std::size_t kNumbers = 3;
  using Text = ConstantParts<kNumbers>;

  struct Pattern {
    Text::Line text;
    std::array<Number, kNumbers> numbers{};  // in this order
    std::uint8_t count = 0;                  // of them; some have no step
    // The patterns that followed last: one, and another one before that.
    std::array<std::uint16_t, 2> next{};
    Span span;
  };

  static constexpr std::size_t kMostPatterns = 1024;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20U;  // of their texts
  static constexpr std::size_t kPatience = 64;  // misses more than hits, and nothing recurs

  bool is(Pattern& pattern, std::string_view record, Times& times) const;
  void follow(std::size_t pattern);

  Text text_;
  TokenTable<Text::kParts> known_;  // patterns, by their texts
  std::vector<Pattern> patterns_;
  std::size_t last_ = 0;  // pattern
  std::size_t misses_ = 0;
  std::size_t hits_ = 0;
};

}  // namespace trainwatch
