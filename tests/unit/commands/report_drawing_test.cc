// The drawings: what is there is seen, and what a file says cannot break them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "commands/report/format.h"
#include "commands/report/plot.h"

namespace trainwatch::report_drawing_test {

using testing::HasSubstr;
using testing::Not;

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

StepSeries hundred_steps() {
  StepSeries rank{"algo-1-0", {}};
  for (int i = 0; i < 100; ++i) rank.steps.push_back({i * 1e6, 200e3, double(i), 0});
  return rank;
}

TEST(StepPlot, LongStepsHaveARing) {
  StepSeries rank = hundred_steps();
  rank.steps[70].duration_us = 900e3;
  const StepScale scale = step_scale({rank});
  EXPECT_FALSE(scale.logarithmic);
  HtmlWriter html;
  draw_steps(html, rank, {"TRAIN"}, scale);
  const std::string drawn = html.take();
  EXPECT_EQ(count_of(drawn, "<circle"), 1U);
  EXPECT_THAT(drawn, HasSubstr("<title>step 70, TRAIN: 900 ms</title>"));
  EXPECT_EQ(count_of(drawn, "h0"), 100U);  // a dot each
}

TEST(StepPlot, OneStallDoesNotFlattenTheOthers) {
  StepSeries rank = hundred_steps();
  rank.steps[70].duration_us = 60e6;
  const StepScale scale = step_scale({rank});
  EXPECT_TRUE(scale.logarithmic);
  EXPECT_GT(scale.from_us, 0);
  EXPECT_LT(scale.from_us, 200e3);
}

TEST(StepPlot, StepsWithoutLengthAreDrawn) {
  const StepSeries rank{"r", {{5, 0, 0, 0}, {5, 0, 1, 0}}};
  HtmlWriter html;
  draw_steps(html, rank, {"TRAIN"}, step_scale({rank}));
  const std::string drawn = html.take();
  EXPECT_THAT(drawn, Not(HasSubstr("nan")));
  EXPECT_THAT(drawn, Not(HasSubstr("inf")));
}

TEST(HistogramPlot, HasABarPerBinThatIsNotEmpty) {
  HtmlWriter html;
  draw_histogram(html, {"g", "s", {0, 1, 2, 3}, {5, 0, 1e9}, 1e9 + 5}, "title", "note",
                 report_format::percent);
  const std::string drawn = html.take();
  EXPECT_EQ(count_of(drawn, "z"), 2U) << drawn;
  EXPECT_THAT(drawn, HasSubstr("v-1h"));  // five of a billion are seen
  EXPECT_THAT(drawn, HasSubstr("3.0 %"));
}

TEST(HistogramPlot, WithoutBinsThereIsTheNote) {
  HtmlWriter html;
  draw_histogram(html, {"g", "s", {}, {}, 3}, "<title>", "all equally long",
                 report_format::duration);
  const std::string drawn = html.take();
  EXPECT_THAT(drawn, Not(HasSubstr("<svg")));
  EXPECT_THAT(drawn, HasSubstr("all equally long"));
  EXPECT_THAT(drawn, HasSubstr("&lt;title&gt;"));
}

TEST(HeatMapPlot, NeighboursOfOneShadeAreOneStroke) {
  const std::vector<double> values = {
      50, 51, 49, 100, 0, 0, 250, -3, std::numeric_limits<double>::quiet_NaN()};
  HtmlWriter html;
  draw_heat_map(html, "about", {{"gpu0", &values}}, values.size());
  const std::string drawn = html.take();
  EXPECT_EQ(count_of(drawn, "class=\"h5\""), 1U);
  EXPECT_EQ(count_of(drawn, "class=\"h10\""), 1U);
  EXPECT_THAT(drawn, HasSubstr("d=\"M96 6.5h268\""));  // three of nine columns
  EXPECT_EQ(count_of(drawn, "<path"), 2U);
}

TEST(HeatMapPlot, AShortRowEndsEarly) {
  const std::vector<double> values = {100};
  HtmlWriter html;
  draw_heat_map(html, "about", {{"gpu0", &values}}, 8);
  EXPECT_THAT(html.take(), HasSubstr("d=\"M96 6.5h100.5\""));
}

TEST(ShareBar, NeverLeavesTheBar) {
  HtmlWriter html;
  const Share shares[] = {{"a", 80}, {"b", 50}, {"c", -3}};
  draw_share_bar(html, "about", shares);
  const std::string drawn = html.take();
  EXPECT_THAT(drawn, HasSubstr("x=\"720\" y=\"0\" width=\"180\""));
  EXPECT_THAT(drawn, HasSubstr("b 50.0 %"));
}

}  // namespace trainwatch::report_drawing_test
