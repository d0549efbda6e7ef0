// SPDX-License-Identifier: Apache-2.0
// Takes little-endian numbers and runs of bytes from the front of a text. nullopt: the text ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trainwatch {

class ByteCursor {
 public:
  explicit ByteCursor(std::string_view bytes) : bytes_(bytes) {}

  std::size_t at() const { return at_; }
  bool at_end() const { return at_ == bytes_.size(); }
  bool next_is(char byte) const { return !at_end() && bytes_[at_] == byte; }

  std::optional<std::string_view> take(std::size_t count) {
    if (bytes_.size() - at_ < count) return std::nullopt;
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }

  template <class T>
  std::optional<T> number() {
    const auto bytes = take(sizeof(T));
    if (!bytes) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value |= std::uint64_t{static_cast<unsigned char>((*bytes)[i])} << (8 * i);
    }
    return static_cast<T>(value);
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace trainwatch
