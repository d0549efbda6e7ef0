// SPDX-License-Identifier: Apache-2.0
#include "daemon/terminal/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace trainwatch {

void Sparkline::add(double value) {
  if (!(value > 0) || !std::isfinite(value)) return;
  if (values_.size() == kColumns) values_.pop_front();
  values_.push_back(value);
}

std::string Sparkline::text() const {
  constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (values_.empty()) return {};
  std::vector<double> sorted(values_.begin(), values_.end());
  std::ranges::sort(sorted);
  const double top = std::max(sorted.back(), 2 * sorted[sorted.size() / 2]);
  std::string text;
  for (const double value : values_) {
    const auto level = static_cast<std::size_t>(std::ceil(value / top * kBlocks.size()));
    text += kBlocks[std::clamp<std::size_t>(level, 1, kBlocks.size()) - 1];
  }
  return text;
}

}  // namespace trainwatch
