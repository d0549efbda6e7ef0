// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/line_layout.h"

#include <cstring>

#include "pipeline/decode/decimal_time.h"

namespace trainwatch {

// With a 0 for each digit.
void LineLayouts::set_shape(std::string_view line) {
  using Bytes [[gnu::vector_size(16)]] = unsigned char;
  shape_.assign(line);
  char* const shape = shape_.data();
  std::size_t at = 0;
  for (; at + sizeof(Bytes) <= line.size(); at += sizeof(Bytes)) {
    Bytes bytes;
    std::memcpy(&bytes, shape + at, sizeof bytes);
    const Bytes digit = static_cast<Bytes>((bytes - '0') < 10);
    bytes = (bytes & ~digit) | (digit & '0');
    std::memcpy(shape + at, &bytes, sizeof bytes);
  }
  for (; at < line.size(); ++at) {
    if (is_digit(shape[at])) shape[at] = '0';
  }
}

const LineLayout* LineLayouts::find(std::string_view line) {
  set_shape(line.size() > kLongest ? "" : line);
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const std::size_t at = latest_ + i < known_.size() ? latest_ + i : latest_ + i - known_.size();
    if (known_[at].shape != shape_) continue;
    latest_ = at;
    return &known_[at].layout;
  }
  return nullptr;
}

void LineLayouts::add(const LineLayout& layout) {
  if (shape_.empty()) return;
  if (known_.size() < kMost) known_.emplace_back();
  Known& replaced = known_[next_];
  replaced.shape = shape_;
  replaced.layout = layout;
  next_ = (next_ + 1) % kMost;
}

void LineLayouts::clear() {
  known_.clear();
  latest_ = 0;
  next_ = 0;
}

}  // namespace trainwatch
