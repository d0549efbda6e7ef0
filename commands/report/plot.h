// The drawings of the report, as SVG, and what they draw with: axes and the path data of a <path>.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "commands/report/html_writer.h"
#include "commands/report/job_figures.h"

namespace trainwatch {

// An axis of a drawing: from values to pixels, and the round values where its marks stand.
struct PlotAxis {
  double from = 0;  // the value at `begin`; above 0 where logarithmic
  double to = 1;
  double begin = 0;  // pixels; may be greater than `end`
  double end = 1;
  bool logarithmic = false;

  // Values beyond the ends are put on them.
  double at(double value) const;
  // At most `most` round values between the ends.
  std::vector<double> marks(int most) const;
};

// The path data of an SVG <path>: coordinates with one decimal, which is enough for a page.
// "12.3", "12"
std::string coordinate(double pixels);

class SvgPath {
 public:
  SvgPath& move(double x, double y);
  SvgPath& line(double x, double y);
  SvgPath& right(double by);  // relative
  SvgPath& down(double by);
  SvgPath& close();

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  SvgPath& put(char command, double a);
  SvgPath& put(char command, double a, double b);

  std::string text_;
};

// A histogram (histogram_plot.cc), small enough that several stand beside each other.
// A <figure> with `title` and `note` below it; `unit` prints a value of the axis.
void draw_histogram(HtmlWriter& html, const BinCounts& histogram, std::string_view title,
                    std::string_view note, std::string (*unit)(double));

// A part of a bar.
struct Share {
  std::string label;
  double percent = 0;
};

// A bar divided by what takes how much, with a line of text per part below; the parts need not make
// 100 %. `about` is for those who do not see it.
void draw_share_bar(HtmlWriter& html, std::string_view about, std::span<const Share> shares);

// The axes of draw_steps(), the same for all ranks of a page, so that they compare.
struct StepScale {
  double from_us = 0;
  double to_us = 1;
  bool logarithmic = false;  // where the longest would flatten all others
};
StepScale step_scale(const std::vector<StepSeries>& ranks);

// The durations of the last steps of one rank, a dot per step, over the time since the first
// (step_plot.cc). Steps of twice the median and more are rings, the longest with what they are. A
// phase beyond the fourth has the colour of the fourth.
void draw_steps(HtmlWriter& html, const StepSeries& rank, const std::vector<std::string>& phases,
                const StepScale& scale);

// Which colour is which phase.
void draw_phase_legend(HtmlWriter& html, const std::vector<std::string>& phases);

struct HeatRow {
  std::string label;
  const std::vector<double>* percent = nullptr;
};

// Utilisation over the time of the job (heat_map_plot.cc): a row per device, a column per time, the
// fuller the darker. Columns beyond `width` are not drawn.
void draw_heat_map(HtmlWriter& html, std::string_view about, const std::vector<HeatRow>& rows,
                   std::size_t width);

// What the colours mean.
void draw_heat_scale(HtmlWriter& html);

}  // namespace trainwatch
