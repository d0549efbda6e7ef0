// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "daemon/net/metrics_page.h"
#include "daemon/net/net_metrics.h"
#include "daemon/net/process_metrics.h"
#include "pipeline/decode/gzip_stream.h"

namespace trainwatch::metrics_test {

using testing::HasSubstr;
using testing::Not;

std::string inflated(std::string_view bytes) {
  InflateStream stream;
  stream.push(bytes);
  std::string out;
  while (true) {
    const auto piece = stream.pull();
    if (piece.empty()) return out;
    out += piece;
  }
}

// So many in each bucket, and as many in native buckets of their own.
std::shared_ptr<const MetricDetails> counted(const std::vector<std::uint64_t>& counts) {
  auto details = std::make_shared<MetricDetails>();
  for (std::uint16_t bucket = 0; bucket < counts.size(); ++bucket) {
    details->cells.push_back({counts[bucket], static_cast<std::int16_t>(2 * bucket), bucket});
  }
  return details;
}

std::vector<MetricFamily> sample() {
  return {
      {"trainwatch_steps_total",
       "Steps seen.",
       MetricType::counter,
       {},
       {{{{"train_job", "a \"b\"\\\n"}}, 12, {}, 0}}},
      {"trainwatch_gpu_busy_ratio", "Busy.", MetricType::gauge, {}, {{{}, 0.1, {}, 0}}},
      {"trainwatch_step_duration_seconds",
       "Steps.",
       MetricType::histogram,
       {0.5, 1, 1000000},
       {{{{"mode", "train"}}, 0, counted({1, 2, 1, 1}), 12.25}}},
  };
}

TEST(Metrics, Text) {
  const auto page = render(MetricsFormat::prometheus_text, sample());
  EXPECT_THAT(page, HasSubstr("# TYPE trainwatch_steps_total counter\n"
                              "trainwatch_steps_total{train_job=\"a \\\"b\\\"\\\\\\n\"} 12\n"));
  EXPECT_THAT(page, HasSubstr("trainwatch_gpu_busy_ratio 0.1\n"));
  EXPECT_THAT(page,
              HasSubstr("trainwatch_step_duration_seconds_bucket{mode=\"train\",le=\"1.0\"} 3\n"));
  EXPECT_THAT(page,
              HasSubstr("trainwatch_step_duration_seconds_bucket{mode=\"train\",le=\"+Inf\"} 5\n"));
  EXPECT_THAT(page, HasSubstr("trainwatch_step_duration_seconds_count{mode=\"train\"} 5\n"));
  EXPECT_THAT(page, Not(HasSubstr("# EOF")));
}

TEST(Metrics, OpenMetrics) {
  EXPECT_EQ(render(MetricsFormat::open_metrics, sample()),
            "# TYPE trainwatch_steps counter\n"
            "# HELP trainwatch_steps Steps seen.\n"
            "trainwatch_steps_total{train_job=\"a \\\"b\\\"\\\\\\n\"} 12\n"
            "# TYPE trainwatch_gpu_busy_ratio gauge\n"
            "# HELP trainwatch_gpu_busy_ratio Busy.\n"
            "trainwatch_gpu_busy_ratio 0.1\n"
            "# TYPE trainwatch_step_duration_seconds histogram\n"
            "# HELP trainwatch_step_duration_seconds Steps.\n"
            "trainwatch_step_duration_seconds_bucket{mode=\"train\",le=\"0.5\"} 1\n"
            "trainwatch_step_duration_seconds_bucket{mode=\"train\",le=\"1.0\"} 3\n"
            "trainwatch_step_duration_seconds_bucket{mode=\"train\",le=\"1000000.0\"} 4\n"
            "trainwatch_step_duration_seconds_bucket{mode=\"train\",le=\"+Inf\"} 5\n"
            "trainwatch_step_duration_seconds_count{mode=\"train\"} 5\n"
            "trainwatch_step_duration_seconds_sum{mode=\"train\"} 12.25\n"
            "# EOF\n");
}

TEST(Metrics, OpenMetricsNumbers) {
  const std::vector<MetricFamily> odd = {
      {"x", "", MetricType::gauge, {}, {{{}, NAN, {}, 0}, {{{"a", ""}}, -INFINITY, {}, 0}}}};
  EXPECT_EQ(render(MetricsFormat::open_metrics, odd),
            "# TYPE x gauge\n# HELP x \nx NaN\nx{a=\"\"} -Inf\n# EOF\n");
}

TEST(Metrics, NegotiatesByQuality) {
  constexpr auto text = MetricsFormat::prometheus_text;
  constexpr auto open = MetricsFormat::open_metrics;
  constexpr auto protobuf = MetricsFormat::protobuf;
  const std::pair<const char*, MetricsFormat> cases[] = {
      {"", text},
      {"*/*", text},
      {"text/html", text},
      {"application/openmetrics-text", open},
      {"application/openmetrics-text; version=1.0.0; charset=utf-8", open},
      {"application/openmetrics-text;version=\"1.0.0\"", open},
      {"application/openmetrics-text;version=2.0.0", text},
      // Prometheus 2.42 and 3.x
      {"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
       "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
       open},
      {"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;"
       "version=0.0.4;q=0.5",
       open},
      // with native histograms
      {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,"
       "application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;"
       "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
       protobuf},
      {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text",
       text},
      {"application/vnd.google.protobuf;proto=other.Family;encoding=delimited", text},
      {"application/vnd.google.protobuf", text},
      {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
       "encoding=delimited;q=0.2,text/plain",
       text},
      {"application/openmetrics-text;q=0.3,text/plain;q=0.7", text},
      {"application/openmetrics-text;q=0, */*", text},
      // The most exact range counts.
      {"*/*;q=1,text/plain;q=0.1,application/openmetrics-text;q=0.5", open},
      {"text/*;q=0.9,*/*;q=0.1,application/openmetrics-text;q=0.5", text},
      {"Application/OpenMetrics-Text ; Q=0.9 , text/*;q=0.5", open},
      {"application/openmetrics-text;q=nonsense", text},
      {"application/openmetrics-text;q=2", text},
      {"application/openmetrics-text;q=-1", text},
      {"application/openmetrics-text;q=nan", text},
      {"application/openmetrics-text;q=", text},
      {"application/openmetrics-text;;;version=1.0.0;", open},
      {";version=1.0.0", text},
      {"\"", text},
      {"application/openmetrics-text;version=\"1.0.0", open},
      {",;,=;q", text},
  };
  for (const auto& [accept, format] : cases) EXPECT_EQ(negotiate(accept), format) << accept;
}

// Catalogue case 86: a storm of scrapes renders four pages a second of each format.
TEST(Metrics, APageIsRenderedOnceInAnInterval) {
  int rendered = 0;
  const auto collect = [&rendered] {
    ++rendered;
    return sample();
  };
  RenderedPages pages(std::chrono::milliseconds(250));
  for (int ms = 0; ms < 1000; ++ms) {
    const RenderedPages::Clock::time_point now{std::chrono::milliseconds(ms)};
    EXPECT_EQ(*pages.page(MetricsFormat::open_metrics, false, now, {}, collect),
              render(MetricsFormat::open_metrics, sample()));
    pages.page(MetricsFormat::prometheus_text, true, now, {}, collect);
  }
  EXPECT_EQ(rendered, 8);
}

TEST(Metrics, ThePlainPageIsCompressedIfItIsThere) {
  RenderedPages pages(std::chrono::milliseconds(250));
  const auto page = [&pages](bool gzip, int ms, const auto& collect) {
    const RenderedPages::Clock::time_point at{std::chrono::milliseconds(ms)};
    return pages.page(MetricsFormat::prometheus_text, gzip, at, {}, collect);
  };
  const auto nothing = [] { return std::vector<MetricFamily>{}; };
  const auto plain = page(false, 0, sample);
  const auto small = page(true, 100, nothing);
  EXPECT_EQ(inflated(*small), *plain);
  EXPECT_EQ(page(true, 249, nothing), small);
  EXPECT_EQ(inflated(*page(true, 250, nothing)), "") << "as old as the page it was made from";
}

TEST(Metrics, AnOldPageIsForgottenUnlessItIsBeingSent) {
  RenderedPages pages(std::chrono::milliseconds(250));
  const RenderedPages::Clock::time_point start{};
  const auto page = [&](std::chrono::milliseconds after) {
    return pages.page(MetricsFormat::open_metrics, false, start + after, {}, sample);
  };
  const auto sent = page(std::chrono::milliseconds(0));
  pages.forget_old(start + std::chrono::milliseconds(249));
  EXPECT_EQ(page(std::chrono::milliseconds(249)), sent);
  pages.forget_old(start + std::chrono::milliseconds(250));
  EXPECT_EQ(sent.use_count(), 1);
  EXPECT_EQ(*page(std::chrono::milliseconds(250)), *sent);
}

TEST(Metrics, NetCountersStartAtZeroWithEveryLabel) {
  NetCounters counters;
  counters.count_response(404);
  counters.count_disconnect(Disconnect::slow);
  const auto page = render(MetricsFormat::open_metrics, net_metrics(counters));
  EXPECT_THAT(page, HasSubstr("trainwatch_http_requests_total{code_class=\"2xx\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("trainwatch_http_requests_total{code_class=\"4xx\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("trainwatch_ws_disconnects_total{reason=\"slow\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("trainwatch_ws_disconnects_total{reason=\"network\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("trainwatch_ws_subscribers 0\n"));
}

TEST(Metrics, ProcessFigures) {
  const auto families = process_metrics();
  const auto value = [&](const std::string& name) {
    for (const auto& family : families) {
      if (family.name == name) return family.points.at(0).value;
    }
    return -2.0;
  };
  EXPECT_GT(value("process_resident_memory_bytes"), 1e5);
  EXPECT_GT(value("process_virtual_memory_bytes"), value("process_resident_memory_bytes"));
  EXPECT_GE(value("process_cpu_seconds_total"), 0);
  EXPECT_GE(value("process_open_fds"), 3);
  EXPECT_GE(value("process_max_fds"), 16);
  EXPECT_NEAR(value("process_start_time_seconds"), static_cast<double>(std::time(nullptr)), 3600);
}

TEST(Metrics, PromtoolHasNothingToSay) {
  if (std::system("command -v promtool >/dev/null") != 0) {
    GTEST_SKIP() << "promtool (Debian package prometheus) is not installed";
  }
  auto families = sample();
  for (auto& family : net_metrics({})) families.push_back(std::move(family));
  for (auto& family : process_metrics()) families.push_back(std::move(family));
  const std::string path = testing::TempDir() + "trainwatch_metrics_test.txt";
  std::ofstream(path) << render(MetricsFormat::prometheus_text, families);
  EXPECT_EQ(std::system(("promtool check metrics < " + path).c_str()), 0);
  std::remove(path.c_str());
}

}  // namespace trainwatch::metrics_test
