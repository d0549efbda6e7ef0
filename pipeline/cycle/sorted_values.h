// SPDX-License-Identifier: Apache-2.0
// Statistics as in pandas.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace trainwatch {

class SortedValues {
 public:
  explicit SortedValues(std::vector<double> values);

  std::uint64_t count() const { return values_.size(); }
  // NaN if there are none.
  double min() const;
  double max() const;
  double mean() const { return mean_; }
  // Divides by n - 1; NaN for fewer than two values.
  double stddev() const;
  // Interpolates linearly; NaN if there are none.
  double quantile(double q) const;

 private:
  std::vector<double> values_;
  double mean_;
};

// The output of pandas' describe().
struct Description {
  std::uint64_t count = 0;
  double mean = 0;
  double stddev = 0;
  double min = 0;
  double p25 = 0;
  double p50 = 0;
  double p75 = 0;
  double max = 0;
};

Description describe(std::vector<double> values);
// For integers, given how often each occurs.
Description describe(const std::map<std::int64_t, std::uint64_t>& counts);

}  // namespace trainwatch
