
#include <algorithm>
#include <array>
#include <cmath>

#include "commands/report/html_writer.h"
#include "commands/report/plot.h"

namespace trainwatch {
namespace {

constexpr std::size_t kLevels = 10;  // and 0, which is not drawn
constexpr double kHeatMapWidth = 900;
constexpr double kLabels = 96;  // pixels for the names of rows
constexpr double kRow = 13;
constexpr std::size_t kLabelShown = 15;
constexpr std::size_t kAboutShown = 100;

std::size_t level_of(double percent) {
  const double level = std::round(percent / 100 * kLevels);
  return level > 0 ? std::min(static_cast<std::size_t>(level), kLevels) : 0;
}

using Levels = std::array<SvgPath, kLevels + 1>;

// One path per colour, and neighbours of one colour as one stroke: a page with a job of many cores
// stays small.
void add_row(Levels& levels, const std::vector<double>& percent, std::size_t width, double y,
             double column) {
  const std::size_t end = std::min(percent.size(), width);
  for (std::size_t from = 0; from < end;) {
    const std::size_t level = level_of(percent[from]);
    std::size_t to = from + 1;
    while (to < end && level_of(percent[to]) == level) ++to;
    const double left = std::round(static_cast<double>(from) * column * 10) / 10;
    const double right = std::round(static_cast<double>(to) * column * 10) / 10;
    if (level > 0) levels[level].move(kLabels + left, y).right(right - left);
    from = to;
  }
}

}  // namespace

void draw_heat_map(HtmlWriter& html, std::string_view about, const std::vector<HeatRow>& rows,
                   std::size_t width) {
  if (rows.empty() || width == 0) return;
  const double height = kRow * static_cast<double>(rows.size());
  html.open("svg", {{"class", "heat"},
                    {"viewBox", "0 0 900 " + coordinate(height)},
                    {"role", "img"},
                    {"aria-label", shortened(about, kAboutShown)}});
  html.empty("rect", {{"class", "ground"},
                      {"x", coordinate(kLabels)},
                      {"y", "0"},
                      {"width", coordinate(kHeatMapWidth - kLabels)},
                      {"height", coordinate(height)}});
  Levels levels;
  const double column = (kHeatMapWidth - kLabels) / static_cast<double>(width);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = kRow * static_cast<double>(i);
    html.element("text", shortened(rows[i].label, kLabelShown),
                 {{"x", coordinate(kLabels - 6)}, {"y", coordinate(y + 10)}, {"class", "end"}});
    add_row(levels, *rows[i].percent, width, y + kRow / 2, column);
  }
  for (std::size_t level = 1; level <= kLevels; ++level) {
    if (levels[level].empty()) continue;
    html.empty("path", {{"class", "h" + std::to_string(level)}, {"d", levels[level].text()}});
  }
  html.close();
}

void draw_heat_scale(HtmlWriter& html) {
  html.open("p", {{"class", "legend"}}).text("0 % ");
  html.open("svg", {{"class", "scale"},
                    {"viewBox", "0 0 110 12"},
                    {"role", "img"},
                    {"aria-label", "from light, 0 %, to dark, 100 %"}});
  html.empty("rect", {{"class", "ground"}, {"width", "110"}, {"height", "12"}});
  for (std::size_t level = 1; level <= kLevels; ++level) {
    const SvgPath step = SvgPath().move(static_cast<double>(level) * 10, 6).right(10);
    html.empty("path", {{"class", "h" + std::to_string(level)}, {"d", step.text()}});
  }
  html.close().text(" 100 %").close();
}

}  // namespace trainwatch
