// Drawings of shares: a histogram, and a bar divided by what takes how much.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "commands/report/html_writer.h"
#include "commands/report/job_figures.h"

namespace trainwatch {

// A histogram, small enough that several stand beside each other.
// A <figure> with `title` and `note` below it; `unit` prints a value of the axis.
void draw_histogram(HtmlWriter& html, const BinCounts& histogram, std::string_view title,
                    std::string_view note, std::string (*unit)(double));

// A part of a bar.
struct Share {
  std::string label;
  double percent = 0;
};

// With a line of text per part below; the parts need not make 100 %. `about` is for those who do
// not see it.
void draw_share_bar(HtmlWriter& html, std::string_view about, std::span<const Share> shares);

}  // namespace trainwatch
