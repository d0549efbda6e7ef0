// SPDX-License-Identifier: Apache-2.0
// A token that successive records repeat: the process of a file, the step of a few events, the time
// of a tick. Comparing it with the previous one is cheaper than parsing it again.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/short_text.h"

namespace trainwatch {

class RememberedToken {
 public:
  // False for the empty token, and for one that was too long to be remembered.
  bool is(std::string_view token) const {
    return token.size() == size_ && size_ > 0 && same_bytes(token.data(), text_.data(), size_);
  }
  void remember(std::string_view token) {
    size_ = token.size() <= text_.size() ? token.size() : 0;
    std::copy_n(token.data(), size_, text_.data());
  }
  void forget() { size_ = 0; }

 private:
  std::array<char, 24> text_{};
  std::size_t size_ = 0;
};

// integer_or() for such tokens.
class RepeatedInteger {
 public:
  std::int64_t read(std::string_view token, std::int64_t none) {
    if (token.empty()) return none;
    return token_.is(token) ? value_ : parse(token, none);
  }

 private:
  std::int64_t parse(std::string_view token, std::int64_t none) {
    const auto value = parse_integer(token);
    if (!value) return none;
    token_.remember(token);
    value_ = *value;
    return value_;
  }

  RememberedToken token_;
  std::int64_t value_ = 0;
};

}  // namespace trainwatch
