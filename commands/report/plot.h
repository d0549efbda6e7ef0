// What the drawings draw with: axes, and the path data of an SVG <path>.
#pragma once

#include <string>
#include <vector>

namespace trainwatch {

// An axis of a drawing: from values to pixels, and the round values where its marks stand.
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

// The path data of an SVG <path>: coordinates with one decimal, which is enough for a page.
// "12.3", "12"
std::string coordinate(double pixels);

class SvgPath {
 public:
  SvgPath& move(double x, double y);
  SvgPath& line(double x, double y);
  SvgPath& right(double by);  // relative
  SvgPath& down(double by);
  SvgPath& close();

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  SvgPath& put(char command, double a);
  SvgPath& put(char command, double a, double b);

  std::string text_;
};

}  // namespace trainwatch
