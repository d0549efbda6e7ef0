// The text around the two numbers of recurring lines, stored line after line: comparing lines in
// their usual order reads memory sequentially.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace trainwatch {

class ConstantParts {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20U;

  struct Line {
    std::uint32_t begin = 0;                           // of its parts
    std::uint16_t before = 0, between = 0, after = 0;  // sizes

    // A line begins with a bracket, at least.
    bool known() const { return before > 0; }
  };
  struct Parts {
    std::string_view before, between, after;
  };

  Parts of(const Line& line) const {
    const char* const text = text_.data() + line.begin;
    return {{text, line.before},
            {text + line.before, line.between},
            {text + line.before + line.between, line.after}};
  }
  // The line becomes unknown if there is no room.
  void set(Line& line, const Parts& parts) {
    constexpr std::size_t kLongest = std::numeric_limits<std::uint16_t>::max();
    const std::size_t size = parts.before.size() + parts.between.size() + parts.after.size();
    const std::size_t held = std::size_t{line.before} + line.between + line.after;
    const bool again = line.known() && size == held;  // a line spelt in ever new ways
    if (size > kLongest || (!again && text_.size() + size > kMostBytes)) {
      line = {};
      return;
    }
    if (!again) {
      line.begin = static_cast<std::uint32_t>(text_.size());
      text_.resize(text_.size() + size);
    }
    std::string text;
    text.append(parts.before).append(parts.between).append(parts.after);
    text_.replace(line.begin, size, text);
    line.before = static_cast<std::uint16_t>(parts.before.size());
    line.between = static_cast<std::uint16_t>(parts.between.size());
    line.after = static_cast<std::uint16_t>(parts.after.size());
  }
  void clear() { text_.clear(); }

 private:
  std::string text_;
};

}  // namespace trainwatch
