// A bar of a whole and its parts.
#pragma once

#include <span>
#include <string>

#include "daemon/report/html_writer.h"

namespace trainwatch {

struct Share {
  std::string label;
  double percent = 0;
};

// With a line of text per part below; the parts need not make 100 %. `about` is for those who do
// not see it.
void draw_share_bar(HtmlWriter& html, std::string_view about, std::span<const Share> shares);

}  // namespace trainwatch
