#include "commands/report/plot.h"

#include <algorithm>
#include <array>
#include <charconv>
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

std::string coordinate(double pixels) {
  std::array<char, 400> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), pixels, std::chars_format::fixed, 1)
          .ptr;
  std::string out(text.data(), end);
  if (out.ends_with(".0")) out.resize(out.size() - 2);
  return out == "-0" ? "0" : out;
}

SvgPath& SvgPath::move(double x, double y) {
  return put('M', x, y);
}

SvgPath& SvgPath::line(double x, double y) {
  return put('L', x, y);
}

SvgPath& SvgPath::right(double by) {
  return put('h', by);
}

SvgPath& SvgPath::down(double by) {
  return put('v', by);
}

SvgPath& SvgPath::close() {
  text_ += 'z';
  return *this;
}

SvgPath& SvgPath::put(char command, double a) {
  text_ += command;
  text_ += coordinate(a);
  return *this;
}

SvgPath& SvgPath::put(char command, double a, double b) {
  put(command, a);
  text_ += ' ';
  text_ += coordinate(b);
  return *this;
}

}  // namespace trainwatch
