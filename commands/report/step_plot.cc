
#include <algorithm>
#include <array>

#include "commands/report/format.h"
#include "commands/report/html_writer.h"
#include "commands/report/plot.h"
#include "commands/report/table_writer.h"

namespace trainwatch {
namespace {

constexpr double kStepPlotWidth = 900;
constexpr double kLeft = 64;
constexpr double kTop = 8;
constexpr double kStepPlotBottom = 132;
constexpr std::size_t kColours = 4;
constexpr std::size_t kExplained = 20;  // long steps with a text of their own
constexpr std::size_t kPhaseShown = 60;
constexpr double kFlattens = 10;  // times the median

using PlottedStep = StepSeries::Step;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<double> durations_of(const StepSeries& rank) {
  std::vector<double> durations;
  for (const PlottedStep& step : rank.steps) durations.push_back(step.duration_us);
  return durations;
}

std::size_t colour_of(std::size_t phase) {
  return std::min(phase, kColours - 1) + 1;
}

void draw_grid(HtmlWriter& html, const PlotAxis& across, const PlotAxis& up) {
  SvgPath lines;
  for (const double mark : up.marks(4)) {
    lines.move(kLeft, up.at(mark)).right(kStepPlotWidth - kLeft);
    html.element(
        "text", report_format::duration(mark),
        {{"x", coordinate(kLeft - 6)}, {"y", coordinate(up.at(mark) + 4)}, {"class", "end"}});
  }
  html.empty("path", {{"class", "grid"}, {"d", lines.text()}});
  for (const double mark : across.marks(8)) {
    html.element("text", report_format::duration(mark),
                 {{"x", coordinate(across.at(mark))},
                  {"y", coordinate(kStepPlotBottom + 14)},
                  {"class", mark == 0 ? "begin" : "middle"}});
  }
  html.empty("path",
             {{"class", "axis"},
              {"d", SvgPath().move(kLeft, kStepPlotBottom).right(kStepPlotWidth - kLeft).text()}});
}

// The long steps, the longest first.
std::vector<const PlottedStep*> long_steps(const StepSeries& rank) {
  const double limit = 2 * median(durations_of(rank));
  std::vector<const PlottedStep*> found;
  for (const PlottedStep& step : rank.steps) {
    if (limit > 0 && step.duration_us >= limit) found.push_back(&step);
  }
  std::stable_sort(found.begin(), found.end(), [](const PlottedStep* a, const PlottedStep* b) {
    return a->duration_us > b->duration_us;
  });
  return found;
}

void draw_long_steps(HtmlWriter& html, const StepSeries& rank,
                     const std::vector<std::string>& phases, const PlotAxis& across,
                     const PlotAxis& up, double begin) {
  const std::vector<const PlottedStep*> steps = long_steps(rank);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const PlottedStep& step = *steps[i];
    html.open("circle", {{"class", "long"},
                         {"r", "4"},
                         {"cx", coordinate(across.at(step.start_us - begin))},
                         {"cy", coordinate(up.at(step.duration_us))}});
    if (i < kExplained) {
      html.element("title", "step " + report_format::exact(step.number) + ", " +
                                shortened(phases[step.phase], kPhaseShown) + ": " +
                                report_format::duration(step.duration_us));
    }
    html.close();
  }
}

}  // namespace

StepScale step_scale(const std::vector<StepSeries>& ranks) {
  std::vector<double> all;
  for (const StepSeries& rank : ranks) {
    for (const PlottedStep& step : rank.steps) {
      if (step.duration_us > 0) all.push_back(step.duration_us);
    }
  }
  if (all.empty()) return {};
  const auto [shortest, longest] = std::minmax_element(all.begin(), all.end());
  const double to = *longest * 1.08;
  if (*longest > kFlattens * median(all)) return {*shortest / 1.3, to, true};
  return {0, to, false};
}

void draw_steps(HtmlWriter& html, const StepSeries& rank, const std::vector<std::string>& phases,
                const StepScale& scale) {
  if (rank.steps.empty()) return;
  const double begin = rank.steps.front().start_us;
  const double last = rank.steps.back().start_us - begin;
  const PlotAxis across{0, last > 0 ? last : 1, kLeft + 4, kStepPlotWidth - 26};
  const PlotAxis up{scale.from_us, scale.to_us, kStepPlotBottom, kTop, scale.logarithmic};
  const std::string about = "Durations of the last steps of " + shortened(rank.rank, kPhaseShown);
  html.open(
      "svg",
      {{"class", "steps"}, {"viewBox", "0 0 900 150"}, {"role", "img"}, {"aria-label", about}});
  draw_grid(html, across, up);
  std::array<SvgPath, kColours + 1> dots;
  for (const PlottedStep& step : rank.steps) {
    const double x = across.at(step.start_us - begin);
    dots[colour_of(step.phase)].move(x, up.at(step.duration_us)).right(0);
  }
  for (std::size_t colour = 1; colour <= kColours; ++colour) {
    if (dots[colour].empty()) continue;
    html.empty("path", {{"class", "dots s" + std::to_string(colour)}, {"d", dots[colour].text()}});
  }
  draw_long_steps(html, rank, phases, across, up, begin);
  html.close();
}

void draw_phase_legend(HtmlWriter& html, const std::vector<std::string>& phases) {
  html.open("p", {{"class", "legend"}});
  for (std::size_t i = 0; i < std::min(phases.size(), kColours); ++i) {
    html.open("span").element("i", "", {{"class", "key s" + std::to_string(colour_of(i))}});
    html.text(" ");
    write_name(html, phases[i], kPhaseShown);
    if (i + 1 == kColours && phases.size() > kColours) html.text(" and other phases");
    html.close().text(" ");
  }
  html.close();
}

}  // namespace trainwatch
