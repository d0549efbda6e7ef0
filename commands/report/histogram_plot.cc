
#include <algorithm>

#include "commands/report/format.h"
#include "commands/report/html_writer.h"
#include "commands/report/plot.h"
#include "commands/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr double kHistogramWidth = 280;
constexpr double kHistogramHeight = 96;
constexpr double kHistogramBottom = 78;  // where the bars stand
constexpr std::size_t kHistogramTitleShown = 60;

SvgPath bars_of(const BinCounts& histogram, const PlotAxis& across, double most) {
  SvgPath bars;
  const std::size_t bins = std::min(histogram.counts.size(), histogram.edges.size() - 1);
  for (std::size_t i = 0; i < bins; ++i) {
    if (!(histogram.counts[i] > 0)) continue;
    const double from = across.at(histogram.edges[i]);
    const double width = across.at(histogram.edges[i + 1]) - from;
    // What is there must be seen, also where it is one of a million.
    const double height = std::max(1.0, histogram.counts[i] / most * (kHistogramBottom - 4));
    bars.move(from, kHistogramBottom)
        .down(-height)
        .right(std::max(0.5, width - 0.6))
        .down(height)
        .close();
  }
  return bars;
}

}  // namespace

void draw_histogram(HtmlWriter& html, const BinCounts& histogram, std::string_view title,
                    std::string_view note, std::string (*unit)(double)) {
  html.open("figure", {{"class", "histogram"}});
  html.open("figcaption");
  write_name(html, title, kHistogramTitleShown);
  html.close();
  double most = 0;
  for (const double count : histogram.counts) most = std::max(most, count);
  if (histogram.edges.size() < 2 || most == 0) {
    html.element("p", note, {{"class", "note"}}).close();
    return;
  }
  const PlotAxis across{histogram.edges.front(), histogram.edges.back(), 6, kHistogramWidth - 6};
  html.open("svg", {{"viewBox", "0 0 280 96"},
                    {"role", "img"},
                    {"aria-label", shortened(title, kHistogramTitleShown)}});
  html.empty("path", {{"class", "fill s1"}, {"d", bars_of(histogram, across, most).text()}});
  html.empty("path",
             {{"class", "axis"},
              {"d", SvgPath().move(6, kHistogramBottom).right(kHistogramWidth - 12).text()}});
  html.element("text", unit(histogram.edges.front()),
               {{"x", "6"}, {"y", coordinate(kHistogramHeight - 3)}});
  html.element("text", unit(histogram.edges.back()),
               {{"x", coordinate(kHistogramWidth - 6)},
                {"y", coordinate(kHistogramHeight - 3)},
                {"class", "end"}});
  html.close().element("p", note, {{"class", "note"}}).close();
}

void draw_share_bar(HtmlWriter& html, std::string_view about, std::span<const Share> shares) {
  constexpr double kWidth = 900;
  html.open("svg", {{"class", "bar"},
                    {"viewBox", "0 0 900 22"},
                    {"role", "img"},
                    {"aria-label", about},
                    {"preserveAspectRatio", "none"}});
  double at = 0;
  int colour = 0;
  for (const Share& share : shares) {
    const double percent = std::clamp(share.percent, 0.0, 100.0 - at);
    const std::string series = "fill s" + std::to_string(++colour);
    html.open("rect", {{"class", series},
                       {"x", coordinate(at * kWidth / 100)},
                       {"y", "0"},
                       {"width", coordinate(percent * kWidth / 100)},
                       {"height", "22"}});
    html.element("title", share.label + ": " + report_format::percent(share.percent)).close();
    at += percent;
  }
  html.close();
  html.open("p", {{"class", "legend"}});
  colour = 0;
  for (const Share& share : shares) {
    html.open("span").element("i", "", {{"class", "key s" + std::to_string(++colour)}});
    html.text(" " + share.label + " " + report_format::percent(share.percent)).close().text(" ");
  }
  html.close();
}

}  // namespace trainwatch
