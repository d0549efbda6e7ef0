// SPDX-License-Identifier: Apache-2.0
// What the writers of /metrics write: small pages byte by byte, and random ones against
// prometheus-cpp.
#include "daemon/net/metrics_writer.h"

#include <gtest/gtest.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <protozero/varint.hpp>
#include <random>
#include <sstream>

#include "daemon/net/metrics_page.h"
#include "trainwatch/stats/exponential_buckets.h"

namespace trainwatch::metrics_writer_test {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

MetricFamily counter() {
  auto details = std::make_shared<MetricDetails>();
  details->exemplars = {{1, Time{std::chrono::milliseconds(1'700'000'000'250)}, kNoStep, "a1b2"}};
  return {"trainwatch_alerts_total",
          "Alerts \\ that\n\"opened\".",
          MetricType::counter,
          {},
          {{{{"rule", "stall"}}, 3, details, 0}, {{{"rule", "a\\b\"c\nd"}}, 0, {}, 0}}};
}

MetricFamily histogram() {
  auto details = std::make_shared<MetricDetails>();
  details->schema = 4;
  details->cells = {{1, exponential_buckets::kZero, 0},
                    {2, -64, 0},
                    {3, -63, 0},
                    {4, -63, 1},
                    {5, -10, 1},
                    {6, 50, 2}};
  const Time at{std::chrono::milliseconds(1'700'000'001'000)};
  details->exemplars = {
      {0.07, at, 6, ""}, {0.08, at + std::chrono::seconds(1), 7, "a1"}, {9, at, 8, ""}};
  return {"trainwatch_step_seconds",
          "Steps.",
          MetricType::histogram,
          {0.065, 1},
          {{{{"rank", "0"}}, 0, details, 12.5}, {{}, 0, {}, 0}}};
}

TEST(TextWriter, EscapesAndHasNoExemplars) {
  EXPECT_EQ(render(MetricsFormat::prometheus_text, std::vector{counter()}),
            "# HELP trainwatch_alerts_total Alerts \\\\ that\\n\"opened\".\n"
            "# TYPE trainwatch_alerts_total counter\n"
            "trainwatch_alerts_total{rule=\"stall\"} 3\n"
            "trainwatch_alerts_total{rule=\"a\\\\b\\\"c\\nd\"} 0\n");
}

TEST(TextWriter, OpenMetricsHasExemplarsAndTheNameWithoutTotal) {
  EXPECT_EQ(render(MetricsFormat::open_metrics, std::vector{counter()}),
            "# TYPE trainwatch_alerts counter\n"
            "# HELP trainwatch_alerts Alerts \\\\ that\\n\\\"opened\\\".\n"
            "trainwatch_alerts_total{rule=\"stall\"} 3 # {alert_id=\"a1b2\"} 1 1700000000.250\n"
            "trainwatch_alerts_total{rule=\"a\\\\b\\\"c\\nd\"} 0\n"
            "# EOF\n");
}

TEST(TextWriter, HistogramsAnEmptyOneToo) {
  EXPECT_EQ(render(MetricsFormat::open_metrics, std::vector{histogram()}),
            "# TYPE trainwatch_step_seconds histogram\n"
            "# HELP trainwatch_step_seconds Steps.\n"
            "trainwatch_step_seconds_bucket{rank=\"0\",le=\"0.065\"} 6\n"
            "trainwatch_step_seconds_bucket{rank=\"0\",le=\"1.0\"} 15"
            " # {step=\"7\",alert_id=\"a1\"} 0.08 1700000002.000\n"
            "trainwatch_step_seconds_bucket{rank=\"0\",le=\"+Inf\"} 21"
            " # {step=\"8\"} 9 1700000001.000\n"
            "trainwatch_step_seconds_count{rank=\"0\"} 21\n"
            "trainwatch_step_seconds_sum{rank=\"0\"} 12.5\n"
            "trainwatch_step_seconds_bucket{le=\"0.065\"} 0\n"
            "trainwatch_step_seconds_bucket{le=\"1.0\"} 0\n"
            "trainwatch_step_seconds_bucket{le=\"+Inf\"} 0\n"
            "trainwatch_step_seconds_count 0\n"
            "trainwatch_step_seconds_sum 0\n"
            "# EOF\n");
}

TEST(TextWriter, NumbersThatAreNone) {
  const MetricFamily odd{"x",
                         "",
                         MetricType::gauge,
                         {},
                         {{{}, kNaN, {}, 0},
                          {{{"a", ""}}, -kInfinity, {}, 0},
                          {{}, kInfinity, {}, 0},
                          {{}, 1e-300, {}, 0}}};
  EXPECT_EQ(render(MetricsFormat::prometheus_text, std::vector{odd}),
            "# HELP x \n# TYPE x gauge\nx NaN\nx{a=\"\"} -Inf\nx +Inf\nx 1e-300\n");
}

// Bounds are spelled as Prometheus spells those that it reads from protobuf.
TEST(TextWriter, Bounds) {
  MetricFamily family{"x", "", MetricType::histogram, {1e-6, 0.0001, 0.25, 600, 1e21}, {}};
  family.points.push_back({{}, 0, {}, 0});
  const std::string page = render(MetricsFormat::prometheus_text, std::vector{family});
  for (const char* bound : {"1e-06", "0.0001", "0.25", "600.0", "1e+21", "+Inf"}) {
    EXPECT_NE(page.find("le=\"" + std::string(bound) + "\""), std::string::npos) << page;
  }
}

// A series whose resolution has fallen has only the bounds that its schema has, too.
TEST(BucketCursor, LeavesOutBoundsThatASeriesDoesNotHave) {
  MetricFamily family{"x", "", MetricType::histogram, {1, 2, 3, 4, 5}, {}};
  family.first_native = -3;
  MetricDetails details;
  details.schema = 2;  // every fourth bucket of schema 4
  details.cells = {{7, -1, 0}, {1, 1, 5}};
  BucketCursor cursor(family, details);
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.index(), 3U) << "bucket 0";
  EXPECT_EQ(cursor.cumulative(), 7U);
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.bound(), kInfinity);
  EXPECT_EQ(cursor.cumulative(), 8U);
  EXPECT_FALSE(cursor.next());
}

// The fields of a message: number -> values as text, messages as their bytes.
std::multimap<std::uint64_t, std::string> fields(const std::string& message) {
  std::multimap<std::uint64_t, std::string> found;
  const char* at = message.data();
  const char* const end = at + message.size();
  while (at != end) {
    const std::uint64_t key = protozero::decode_varint(&at, end);
    const std::uint64_t type = key % 8;
    std::ostringstream text;
    if (type == 0) {
      text << protozero::decode_varint(&at, end);
    } else if (type == 1) {
      double number = 0;
      std::memcpy(&number, at, sizeof number);
      at += sizeof number;
      text << number;
    } else {
      const std::uint64_t length = protozero::decode_varint(&at, end);
      text << std::string_view(at, length);
      at += length;
    }
    found.emplace(key / 8, text.str());
  }
  return found;
}

std::string field(const std::string& message, unsigned tag) {
  const auto all = fields(message);
  return all.count(tag) == 1 ? all.find(tag)->second : "not one";
}

// The only family of a page.
std::string family_of(const std::string& page) {
  const char* at = page.data();
  const auto length = protozero::decode_varint(&at, page.data() + page.size());
  EXPECT_EQ(static_cast<std::size_t>(page.data() + page.size() - at), length);
  return std::string(at, length);
}

TEST(ProtobufWriter, Counters) {
  const std::string family = family_of(render(MetricsFormat::protobuf, std::vector{counter()}));
  EXPECT_EQ(field(family, 1), "trainwatch_alerts_total");
  EXPECT_EQ(field(family, 2), "Alerts \\ that\n\"opened\".");
  EXPECT_EQ(field(family, 3), "0") << "COUNTER";
  const auto metrics = fields(family);
  ASSERT_EQ(metrics.count(4), 2U);
  const std::string metric = metrics.find(4)->second;
  EXPECT_EQ(field(field(metric, 1), 1), "rule");
  EXPECT_EQ(field(field(metric, 1), 2), "stall");
  const std::string value = field(metric, 3);
  EXPECT_EQ(field(value, 1), "3");
  const std::string exemplar = field(value, 2);
  EXPECT_EQ(field(field(exemplar, 1), 1), "alert_id");
  EXPECT_EQ(field(field(exemplar, 1), 2), "a1b2");
  EXPECT_EQ(field(field(exemplar, 3), 1), "1700000000");
  EXPECT_EQ(field(field(exemplar, 3), 2), "250000000");
}

std::vector<std::int64_t> packed(const std::string& bytes) {
  std::vector<std::int64_t> found;
  const char* at = bytes.data();
  while (at != bytes.data() + bytes.size()) {
    found.push_back(
        protozero::decode_zigzag64(protozero::decode_varint(&at, bytes.data() + bytes.size())));
  }
  return found;
}

TEST(ProtobufWriter, NativeHistograms) {
  const std::string family = family_of(render(MetricsFormat::protobuf, std::vector{histogram()}));
  EXPECT_EQ(field(family, 3), "4") << "HISTOGRAM";
  const auto metrics = fields(family);
  const std::string histogram = field(metrics.find(4)->second, 7);
  EXPECT_EQ(field(histogram, 1), "21");
  EXPECT_EQ(field(histogram, 2), "12.5");
  EXPECT_EQ(fields(histogram).count(3), 3U) << "classic buckets";
  const auto buckets = fields(histogram);
  std::string with_exemplar;
  for (auto [at, end] = buckets.equal_range(3); at != end; ++at) {
    if (fields(at->second).contains(3)) with_exemplar += field(at->second, 2) + ' ';
  }
  EXPECT_EQ(with_exemplar, "1 ") << "only the one of which an alert speaks";
  EXPECT_EQ(fields(histogram).count(16), 3U) << "all of them";
  EXPECT_EQ(field(histogram, 5), "8") << "schema 4, as zigzag";
  EXPECT_EQ(field(histogram, 7), "1") << "zero";
  // -64 and -63; then -10; then 50.
  std::vector<std::pair<std::int64_t, std::string>> spans;
  const auto all = fields(histogram);
  for (auto [at, end] = all.equal_range(12); at != end; ++at) {
    spans.emplace_back(protozero::decode_zigzag64(std::stoull(field(at->second, 1))),
                       field(at->second, 2));
  }
  const std::vector<std::pair<std::int64_t, std::string>> expected = {
      {-64, "2"}, {52, "1"}, {59, "1"}};
  EXPECT_EQ(spans, expected);
  EXPECT_EQ(packed(field(histogram, 13)), (std::vector<std::int64_t>{2, 5, -2, 1}))
      << "2, 7 = 3 + 4, 5, 6";
}

// Without a positive threshold or a bucket, Prometheus would take it for a classic one.
TEST(ProtobufWriter, AnEmptyHistogramIsNativeToo) {
  MetricFamily family = histogram();
  family.points.erase(family.points.begin());
  const std::string histogram =
      field(field(family_of(render(MetricsFormat::protobuf, std::vector{family})), 4), 7);
  EXPECT_EQ(field(histogram, 1), "0");
  EXPECT_EQ(field(histogram, 6), "2.93874e-39");
  EXPECT_EQ(fields(histogram).count(12), 0U);
}

prometheus::MetricFamily peer(const MetricFamily& family) {
  prometheus::MetricFamily out{family.name, family.help, prometheus::MetricType::Counter, {}};
  if (family.type == MetricType::gauge) out.type = prometheus::MetricType::Gauge;
  if (family.type == MetricType::histogram) out.type = prometheus::MetricType::Histogram;
  for (const MetricPoint& point : family.points) {
    prometheus::ClientMetric metric;
    for (const auto& [name, value] : point.labels) {
      metric.label.push_back({std::string(name), std::string(value)});
    }
    metric.counter.value = metric.gauge.value = point.value;
    metric.histogram.sample_sum = point.sum;
    if (point.details) {
      BucketCursor cursor(family, *point.details);
      while (cursor.next()) {
        metric.histogram.bucket.push_back({cursor.cumulative(), cursor.bound()});
        metric.histogram.sample_count = cursor.cumulative();
      }
    }
    out.metric.push_back(std::move(metric));
  }
  return out;
}

// The samples of a page of text: everything before the value, with bounds as numbers -> the value.
std::map<std::string, double> samples(const std::string& page) {
  std::map<std::string, double> found;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) {
      found[line] = 0;
      continue;
    }
    const auto value = line.rfind(' ');
    std::string name = line.substr(0, value);
    if (const auto le = name.rfind("le=\""); le != std::string::npos) {
      char number[32];
      std::snprintf(number, sizeof number, "%.15g", std::stod(name.substr(le + 4)));
      name = name.substr(0, le) + number;
    }
    const std::string text = line.substr(value + 1);
    const double number = std::stod(text);
    found[name] = std::isnan(number) ? 0.5 : number;  // a NaN equals nothing
  }
  return found;
}

TEST(TextWriter, SaysWhatPrometheusCppSays) {
  std::mt19937_64 random(7);
  std::vector<MetricFamily> families;
  for (int i = 0; i < 60; ++i) {
    const auto type = static_cast<MetricType>(i % 3);
    const char* const ending = type == MetricType::counter ? "_total" : "";
    MetricFamily family{"m" + std::to_string(i) + ending, "Help.", type, {}, {}};
    if (type == MetricType::histogram) family.bounds = {1e-6, 0.00025, 0.1, 1, 600, 1e6};
    for (int series = 0; series < 20; ++series) {
      Labels labels;
      for (std::uint64_t k = 0; k < random() % 4; ++k) {
        std::string value;
        for (std::uint64_t n = 0; n < random() % 6; ++n) value += "ab\\\"\n,}= "[random() % 9];
        labels.add("l" + std::to_string(k), value + std::to_string(series));
      }
      const double values[] = {0,         1,          -2.5, 1e300, 1e-300,     1.0 / 3,
                               kInfinity, -kInfinity, kNaN, 1e15,  1234567.875};
      MetricPoint point{labels, values[random() % std::size(values)], {}, 0};
      if (type == MetricType::histogram) {
        auto details = std::make_shared<MetricDetails>();
        for (std::uint16_t bucket = 0; bucket <= family.bounds.size(); ++bucket) {
          details->cells.push_back({random() % 1000, static_cast<std::int16_t>(bucket), bucket});
        }
        point.details = details;
        point.sum = 1.0 / static_cast<double>(1 + random() % 100);
      }
      family.points.push_back(std::move(point));
    }
    families.push_back(std::move(family));
  }
  std::vector<prometheus::MetricFamily> peers;
  for (const MetricFamily& family : families) peers.push_back(peer(family));
  const auto theirs = samples(prometheus::TextSerializer{}.Serialize(peers));
  const auto ours = samples(render(MetricsFormat::prometheus_text, families));
  ASSERT_EQ(ours.size(), theirs.size());
  for (const auto& [name, value] : theirs) {
    ASSERT_TRUE(ours.contains(name)) << name;
    EXPECT_DOUBLE_EQ(ours.at(name), value) << name;
  }
}

}  // namespace trainwatch::metrics_writer_test
