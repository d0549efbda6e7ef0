#include "daemon/report/svg_path.h"

#include <array>
#include <charconv>

namespace trainwatch {

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
