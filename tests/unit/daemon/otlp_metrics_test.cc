// SPDX-License-Identifier: Apache-2.0
#include "daemon/otlp/otlp_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "daemon/otlp/otlp_exporter.h"

namespace trainwatch::otlp_metrics_test {

using testing::HasSubstr;

constexpr Time kNow{std::chrono::nanoseconds{1'795'247'869'123'456'789}};

MetricFamily gauge(std::string name, std::vector<double> values) {
  MetricFamily family{std::move(name), "Help.", MetricType::gauge, {}, {}, {}};
  for (std::size_t i = 0; i < values.size(); ++i)
    family.points.push_back({{{"rank", std::to_string(i)}}, values[i], {}, 0});
  return family;
}

std::vector<std::string> requests(std::vector<MetricFamily> families, std::size_t bytes) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->metrics = std::move(families);
  OtlpMetricRequests all(snapshot, {}, {{"service.name", "trainwatch"}, {"empty", ""}}, kNow,
                         bytes);
  std::vector<std::string> bodies;
  while (auto body = all.next()) bodies.push_back(std::move(*body));
  return bodies;
}

// The data points of all bodies, as JSON text, in order.
std::vector<std::string> points(const std::vector<std::string>& bodies) {
  std::vector<std::string> found;
  simdjson::dom::parser parser;
  for (const std::string& body : bodies) {
    for (auto resource : parser.parse(body)["resourceMetrics"].get_array()) {
      for (auto scope : resource["scopeMetrics"].get_array()) {
        for (auto metric : scope["metrics"].get_array()) {
          for (const char* kind : {"sum", "gauge", "histogram"}) {
            simdjson::dom::array of;
            if (metric[kind]["dataPoints"].get(of) != simdjson::SUCCESS) continue;
            for (auto point : of) found.push_back(simdjson::minify(point));
          }
        }
      }
    }
  }
  return found;
}

TEST(OtlpMetrics, ARequestNamesWhoSendsAndWhat) {
  const auto bodies = requests({gauge("trainwatch_gpu_busy_ratio", {0.5})}, 1000);
  ASSERT_EQ(bodies.size(), 1U);
  EXPECT_THAT(bodies[0],
              HasSubstr(R"({"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name",)"
                        R"("value":{"stringValue":"trainwatch"}}]},"scopeMetrics":[)"));
  EXPECT_THAT(bodies[0],
              HasSubstr(R"({"name":"trainwatch_gpu_busy_ratio","description":"Help.","unit":"1",)"
                        R"("gauge":{"dataPoints":[{"attributes":[{"key":"rank","value":)"
                        R"({"stringValue":"0"}}],"timeUnixNano":"1795247869123456789",)"
                        R"("asDouble":0.5}]}})"));
}

TEST(OtlpMetrics, CountersAreCumulativeSums) {
  MetricFamily family = gauge("trainwatch_steps_total", {7});
  family.type = MetricType::counter;
  EXPECT_THAT(requests({family}, 1000)[0],
              HasSubstr(R"("unit":"","sum":{"aggregationTemporality":2,"isMonotonic":true,)"));
}

TEST(OtlpMetrics, NumbersThatJsonLacksAreStrings) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto found = points(requests({gauge("g", {std::nan(""), infinity, -infinity})}, 1000));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_THAT(found[0], HasSubstr(R"("asDouble":"NaN")"));
  EXPECT_THAT(found[1], HasSubstr(R"("asDouble":"Infinity")"));
  EXPECT_THAT(found[2], HasSubstr(R"("asDouble":"-Infinity")"));
}

// However small the requests are: each point once, in order, and none without a point.
TEST(OtlpMetrics, RequestsAreBounded) {
  std::vector<MetricFamily> families = {gauge("none", {}), gauge("a", {1, 2, 3, 4, 5}),
                                        gauge("empty", {}), gauge("b", {6, 7}), gauge("last", {})};
  const auto whole = points(requests(families, std::size_t{1} << 20U));
  ASSERT_EQ(whole.size(), 7U);
  for (const std::size_t bytes : {1U, 300U, 500U, 900U}) {
    const auto bodies = requests(families, bytes);
    EXPECT_EQ(points(bodies), whole) << bytes;
    EXPECT_GT(bodies.size(), 1U) << bytes;
    for (const std::string& body : bodies) EXPECT_LT(body.size(), bytes + 600) << bytes;
  }
  EXPECT_TRUE(requests({gauge("none", {})}, 1000).empty());
}

TEST(OtlpMetrics, UnitsFollowFromNames) {
  EXPECT_EQ(otlp_unit("trainwatch_step_duration_seconds"), "s");
  EXPECT_EQ(otlp_unit("trainwatch_input_bytes_total"), "By");
  EXPECT_EQ(otlp_unit("trainwatch_network_bytes_per_second"), "By/s");
  EXPECT_EQ(otlp_unit("trainwatch_system_gpu_clock_hertz"), "Hz");
  EXPECT_EQ(otlp_unit("trainwatch_steps_total"), "");
}

TEST(OtlpMetrics, ACollectorSaysWhatItRejected) {
  EXPECT_FALSE(otlp_rejection("").has_value());
  EXPECT_FALSE(otlp_rejection("{}").has_value());
  EXPECT_FALSE(otlp_rejection(R"({"partialSuccess":{}})").has_value());
  for (const char* body : {R"({"partialSuccess":{"rejectedDataPoints":"5","errorMessage":"old"}})",
                           R"({"partialSuccess":{"rejectedDataPoints":5,"errorMessage":"old"}})"}) {
    const auto rejection = otlp_rejection(body);
    ASSERT_TRUE(rejection.has_value()) << body;
    EXPECT_EQ(rejection->points, 5U);
    EXPECT_EQ(rejection->why, "old");
  }
}

}  // namespace trainwatch::otlp_metrics_test
