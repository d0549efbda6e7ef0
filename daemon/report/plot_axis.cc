#include "daemon/report/plot_axis.h"

#include <algorithm>
#include <cmath>

namespace trainwatch {
namespace {

// 1, 2 or 5 times a power of ten, at least `least`.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// Powers of ten, and 2 and 5 times them where there is room.
std::vector<double> logarithmic_marks(double from, double to, int most) {
  std::vector<double> fine;
  std::vector<double> coarse;
  const int last = static_cast<int>(std::floor(std::log10(to)));
  for (int power = static_cast<int>(std::floor(std::log10(from))); power <= last; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double mark = factor * std::pow(10, power);
      if (mark < from || mark > to) continue;
      fine.push_back(mark);
      if (factor == 1.0) coarse.push_back(mark);
    }
  }
  return static_cast<int>(fine.size()) <= most ? fine : coarse;
}

}  // namespace

double PlotAxis::at(double value) const {
  const double kept = std::clamp(value, std::min(from, to), std::max(from, to));
  const double share =
      logarithmic ? std::log(kept / from) / std::log(to / from) : (kept - from) / (to - from);
  return std::isfinite(share) ? begin + share * (end - begin) : begin;
}

std::vector<double> PlotAxis::marks(int most) const {
  std::vector<double> marks;
  if (!(to > from) || !std::isfinite(to - from)) return marks;
  if (logarithmic) return logarithmic_marks(from, to, most);
  const double step = round_step((to - from) / most);
  for (double i = std::ceil(from / step - 1e-9); i * step <= to + step * 1e-9; ++i) {
    marks.push_back(i * step + 0.0);  // not -0
  }
  return marks;
}

}  // namespace trainwatch
