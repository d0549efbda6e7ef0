// SPDX-License-Identifier: Apache-2.0
// The last values as a row of blocks, each an eighth higher than the one before: "▄▄▄▅▄█▄▄".
#pragma once

#include <cstddef>
#include <deque>
#include <string>

namespace trainwatch {

class Sparkline {
 public:
  static constexpr std::size_t kColumns = 30;

  // Values that are not positive numbers are left out.
  void add(double value);
  // From zero to the largest, or to twice the median if that is more: steps of equal length are a
  // line of middle height.
  std::string text() const;

 private:
  std::deque<double> values_;  // the oldest first
};

}  // namespace trainwatch
