// The durations of the last steps of one rank, a dot per step, over the time since the first.
#pragma once

#include <string>
#include <vector>

#include "commands/report/html_writer.h"
#include "commands/report/job_figures.h"

namespace trainwatch {

// The same for all ranks of a page, so that they compare.
struct StepScale {
  double from_us = 0;
  double to_us = 1;
  bool logarithmic = false;  // where the longest would flatten all others
};
StepScale step_scale(const std::vector<StepSeries>& ranks);

// Steps of twice the median and more are rings, the longest with what they are. A phase beyond
// the fourth has the colour of the fourth.
void draw_steps(HtmlWriter& html, const StepSeries& rank, const std::vector<std::string>& phases,
                const StepScale& scale);

// Which colour is which phase.
void draw_phase_legend(HtmlWriter& html, const std::vector<std::string>& phases);

}  // namespace trainwatch
