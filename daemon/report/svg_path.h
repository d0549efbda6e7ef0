// The path data of an SVG <path>: coordinates with one decimal, which is enough for a page.
#pragma once

#include <string>

namespace trainwatch {

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
