// SPDX-License-Identifier: Apache-2.0
// The text around the numbers of recurring lines, stored line after line: comparing lines in their
// usual order reads memory sequentially.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>

namespace trainwatch {

// A line has kNumbers numbers, and so many parts and one more.
template <std::size_t kNumbers>
class ConstantParts {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
  static constexpr std::size_t kParts = kNumbers + 1;

  struct Line {
    std::uint32_t begin = 0;  // of its parts
    std::array<std::uint16_t, kParts> sizes{};

    // A line begins with a bracket, at least.
    bool known() const { return sizes[0] > 0; }
  };
  using Parts = std::array<std::string_view, kParts>;

  // Where its parts lie, one behind the other.
  const char* begin(const Line& line) const { return text_.data() + line.begin; }
  Parts of(const Line& line) const {
    const char* text = begin(line);
    Parts parts;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kParts; ++i) {
      parts[i] = {text, line.sizes[i]};
      text += line.sizes[i];
    }
    return parts;
  }
  // The parts are not those of a line. The line becomes unknown if there is no room.
  void set(Line& line, const Parts& parts) {
    constexpr std::size_t kLongest = std::numeric_limits<std::uint16_t>::max();
    std::size_t size = 0;
    for (const std::string_view part : parts) size += part.size();
    const auto held = std::accumulate(line.sizes.begin(), line.sizes.end(), std::size_t{0});
    const bool again = line.known() && size == held;  // a line spelt in ever new ways
    if (size > kLongest || (!again && text_.size() + size > kMostBytes)) {
      line = {};
      return;
    }
    if (!again) {
      line.begin = static_cast<std::uint32_t>(text_.size());
      text_.resize(text_.size() + size);
    }
    char* text = text_.data() + line.begin;
    for (std::size_t i = 0; i < kParts; ++i) {
      text = std::copy(parts[i].begin(), parts[i].end(), text);
      line.sizes[i] = static_cast<std::uint16_t>(parts[i].size());
    }
  }
  void clear() {
    text_.clear();
  }
  std::size_t bytes() const {
    return text_.capacity();
  }

 private:
  std::string text_;
};

}  // namespace trainwatch
