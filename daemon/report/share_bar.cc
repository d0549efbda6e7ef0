#include "daemon/report/share_bar.h"

#include <algorithm>

#include "daemon/report/figures.h"
#include "daemon/report/svg_path.h"

namespace trainwatch {

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
    html.element("title", share.label + ": " + figures::percent(share.percent)).close();
    at += percent;
  }
  html.close();
  html.open("p", {{"class", "legend"}});
  colour = 0;
  for (const Share& share : shares) {
    html.open("span").element("i", "", {{"class", "key s" + std::to_string(++colour)}});
    html.text(" " + share.label + " " + figures::percent(share.percent)).close().text(" ");
  }
  html.close();
}

}  // namespace trainwatch
