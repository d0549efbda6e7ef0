// An axis of a drawing: from values to pixels, and the round values where its marks stand.
#pragma once

#include <vector>

namespace trainwatch {

struct PlotAxis {
  double from = 0;  // the value at `begin`; above 0 where logarithmic
  double to = 1;
  double begin = 0;  // pixels; may be greater than `end`
  double end = 1;
  bool logarithmic = false;

  // Values beyond the ends are put on them.
  double at(double value) const;
  // At most `most` round values between the ends.
  std::vector<double> marks(int most) const;
};

}  // namespace trainwatch
