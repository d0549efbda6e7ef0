#include "daemon/report/histogram_plot.h"

#include <algorithm>

#include "daemon/report/figures.h"
#include "daemon/report/plot_axis.h"
#include "daemon/report/shown_text.h"
#include "daemon/report/svg_path.h"
#include "daemon/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr double kWidth = 280;
constexpr double kHeight = 96;
constexpr double kBottom = 78;  // where the bars stand
constexpr std::size_t kNameShown = 60;

SvgPath bars_of(const BinCounts& histogram, const PlotAxis& across, double most) {
  SvgPath bars;
  const std::size_t bins = std::min(histogram.counts.size(), histogram.edges.size() - 1);
  for (std::size_t i = 0; i < bins; ++i) {
    if (!(histogram.counts[i] > 0)) continue;
    const double from = across.at(histogram.edges[i]);
    const double width = across.at(histogram.edges[i + 1]) - from;
    // What is there must be seen, also where it is one of a million.
    const double height = std::max(1.0, histogram.counts[i] / most * (kBottom - 4));
    bars.move(from, kBottom).down(-height).right(std::max(0.5, width - 0.6)).down(height).close();
  }
  return bars;
}

}  // namespace

void draw_histogram(HtmlWriter& html, const BinCounts& histogram, std::string_view title,
                    std::string_view note, std::string (*unit)(double)) {
  html.open("figure", {{"class", "histogram"}});
  html.open("figcaption");
  write_name(html, title, kNameShown);
  html.close();
  double most = 0;
  for (const double count : histogram.counts) most = std::max(most, count);
  if (histogram.edges.size() < 2 || most == 0) {
    html.element("p", note, {{"class", "note"}}).close();
    return;
  }
  const PlotAxis across{histogram.edges.front(), histogram.edges.back(), 6, kWidth - 6};
  html.open(
      "svg",
      {{"viewBox", "0 0 280 96"}, {"role", "img"}, {"aria-label", shortened(title, kNameShown)}});
  html.empty("path", {{"class", "fill s1"}, {"d", bars_of(histogram, across, most).text()}});
  html.empty("path",
             {{"class", "axis"}, {"d", SvgPath().move(6, kBottom).right(kWidth - 12).text()}});
  html.element("text", unit(histogram.edges.front()), {{"x", "6"}, {"y", coordinate(kHeight - 3)}});
  html.element("text", unit(histogram.edges.back()),
               {{"x", coordinate(kWidth - 6)}, {"y", coordinate(kHeight - 3)}, {"class", "end"}});
  html.close().element("p", note, {{"class", "note"}}).close();
}

}  // namespace trainwatch
