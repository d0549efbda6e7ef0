// A histogram, small enough that several stand beside each other.
#pragma once

#include <string>
#include <string_view>

#include "daemon/report/html_writer.h"
#include "daemon/report/job_figures.h"

namespace trainwatch {

// A <figure> with `title` and `note` below it; `unit` prints a value of the axis.
void draw_histogram(HtmlWriter& html, const BinCounts& histogram, std::string_view title,
                    std::string_view note, std::string (*unit)(double));

}  // namespace trainwatch
