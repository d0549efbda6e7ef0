// Utilisation over the time of the job: a row per device, a column per time, the fuller the darker.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "commands/report/html_writer.h"

namespace trainwatch {

struct HeatRow {
  std::string label;
  const std::vector<double>* percent = nullptr;
};

// Columns beyond `width` are not drawn.
void draw_heat_map(HtmlWriter& html, std::string_view about, const std::vector<HeatRow>& rows,
                   std::size_t width);

// What the colours mean.
void draw_heat_scale(HtmlWriter& html);

}  // namespace trainwatch
