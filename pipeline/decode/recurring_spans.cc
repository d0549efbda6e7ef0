// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/recurring_spans.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/short_text.h"

namespace trainwatch {
namespace {

constexpr std::int64_t kNsPerUs = 1000;
constexpr std::int64_t kMostUs = std::numeric_limits<std::int64_t>::max() / kNsPerUs;

bool is_number(std::string_view token) {
  std::int64_t number = 0;
  const char* const end = token.data() + token.size();
  return read_leading_digits(token.data(), end, number) == end && !token.empty();
}

// Writers put the number of a step in quotes.
std::string_view without_quotes(std::string_view token) {
  return is_string_token(token) ? between_quotes(token) : token;
}

}  // namespace

const Span* RecurringSpans::read(std::string_view record, Times& times) {
  if (patterns_.empty()) return nullptr;
  for (const std::uint16_t next : patterns_[last_].next) {
    if (!is(patterns_[next], record, times)) continue;
    ++hits_;
    last_ = next;
    return &patterns_[next].span;
  }
  return nullptr;
}

bool RecurringSpans::is(Pattern& pattern, std::string_view record, Times& times) const {
  const char* part = text_.begin(pattern.text);
  const char* p = record.data();
  const char* const end = p + record.size();
  const auto take = [&](std::size_t size) {
    if (std::cmp_less(end - p, size) || !same_bytes(p, part, size)) return false;
    p += size;
    part += size;
    return true;
  };
  const auto& sizes = pattern.text.sizes;
  if (!pattern.text.known() || !take(sizes[0])) return false;
  std::array<std::int64_t, kNumbers> numbers{0, 0, pattern.span.step};  // by Number
  for (std::size_t i = 0; i < pattern.count; ++i) {
    p = read_leading_digits(p, end, numbers[static_cast<std::size_t>(pattern.numbers[i])]);
    if (p == nullptr || !take(sizes[i + 1])) return false;
  }
  const auto [start_us, duration_us, step] = numbers;
  if (p != end || std::max(start_us, duration_us) > kMostUs) return false;
  times = {start_us * kNsPerUs, duration_us * kNsPerUs};
  pattern.span.step = step;
  return true;
}

void RecurringSpans::learn(std::string_view record, const TraceEvent& event, const Span& span) {
  if (misses_ > kPatience + hits_) return;
  ++misses_;
  // How often a name had no room is counted.
  for (const Symbol symbol : {span.name, span.phase, span.layer}) {
    if (symbol == Symbol::other) return;
  }
  struct Token {
    std::string_view text;
    Number number;
  };
  std::array<Token, kNumbers> tokens{{{event.ts, Number::start},
                                      {event.dur, Number::duration},
                                      {without_quotes(event.step_num), Number::step}}};
  const std::size_t count = event.step_num.empty() ? 2 : 3;
  const auto used = std::span(tokens).first(count);
  for (const Token& token : used) {
    if (!is_number(token.text)) return;
  }
  std::ranges::sort(used, {}, [](const Token& token) { return token.text.data(); });
  Pattern pattern;
  pattern.count = static_cast<std::uint8_t>(count);
  pattern.span = span;
  Text::Parts parts;
  const char* begin = record.data();
  for (std::size_t i = 0; i < count; ++i) {
    pattern.numbers[i] = used[i].number;
    parts[i] = {begin, used[i].text.data()};
    begin = used[i].text.data() + used[i].text.size();
  }
  parts[count] = {begin, record.data() + record.size()};
  if (const auto known = known_.find(parts)) return follow(*known);
  if (patterns_.size() == kMostPatterns || known_.bytes() > kMostBytes) return;
  text_.set(pattern.text, parts);
  known_.add(parts, static_cast<std::uint32_t>(patterns_.size()));
  patterns_.push_back(pattern);
  follow(patterns_.size() - 1);
}

// What the last span did not expect.
void RecurringSpans::follow(std::size_t pattern) {
  auto& next = patterns_[last_].next;
  next = {static_cast<std::uint16_t>(pattern), next[0]};
  last_ = pattern;
}

}  // namespace trainwatch
