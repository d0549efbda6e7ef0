#include "daemon/net/metrics_page.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <charconv>
#include <cmath>
#include <sstream>
#include <vector>

#include "daemon/net/accept_list.h"

namespace trainwatch {
namespace {

prometheus::MetricType peer_type(MetricType type) {
  switch (type) {
    case MetricType::counter:
      return prometheus::MetricType::Counter;
    case MetricType::gauge:
      return prometheus::MetricType::Gauge;
    case MetricType::histogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::ClientMetric peer_point(const MetricFamily& family, const MetricPoint& point) {
  prometheus::ClientMetric out;
  for (const auto& [name, value] : point.labels) out.label.push_back({name, value});
  out.counter.value = point.value;
  out.gauge.value = point.value;
  if (family.type != MetricType::histogram) return out;
  out.histogram.sample_sum = point.sum;
  out.histogram.sample_count = point.cumulative.empty() ? 0 : point.cumulative.back();
  for (std::size_t i = 0; i < family.bounds.size() && i < point.cumulative.size(); ++i) {
    out.histogram.bucket.push_back({point.cumulative[i], family.bounds[i]});
  }
  return out;
}

std::string render_text(std::span<const MetricFamily> families) {
  std::vector<prometheus::MetricFamily> out;
  out.reserve(families.size());
  for (const auto& family : families) {
    auto& copy = out.emplace_back();
    copy.name = family.name;
    copy.help = family.help;
    copy.type = peer_type(family.type);
    for (const auto& point : family.points) copy.metric.push_back(peer_point(family, point));
  }
  std::ostringstream stream;
  prometheus::TextSerializer{}.Serialize(stream, out);
  return std::move(stream).str();
}

// OpenMetrics 1.0, which prometheus-cpp cannot write.
class OpenMetricsWriter {
 public:
  void family(const MetricFamily& family) {
    const bool counter = family.type == MetricType::counter;
    std::string_view name = family.name;
    if (counter && name.ends_with("_total")) name.remove_suffix(6);
    out_.append("# TYPE ").append(name).append(" ").append(type_name(family.type)).append("\n");
    out_.append("# HELP ").append(name).append(" ");
    escaped(family.help);
    out_ += '\n';
    for (const auto& point : family.points) {
      if (family.type == MetricType::histogram) {
        histogram(family, point);
      } else {
        sample(name, counter ? "_total" : "", point.labels, nullptr, point.value);
      }
    }
  }

  std::string finish() { return std::move(out_.append("# EOF\n")); }

 private:
  static std::string_view type_name(MetricType type) {
    constexpr std::string_view kNames[] = {"counter", "gauge", "histogram"};
    return kNames[static_cast<std::size_t>(type)];
  }

  void histogram(const MetricFamily& family, const MetricPoint& point) {
    for (std::size_t i = 0; i < point.cumulative.size(); ++i) {
      const double bound = i < family.bounds.size() ? family.bounds[i] : HUGE_VAL;
      sample(family.name, "_bucket", point.labels, &bound,
             static_cast<double>(point.cumulative[i]));
    }
    const auto count = point.cumulative.empty() ? 0 : point.cumulative.back();
    sample(family.name, "_count", point.labels, nullptr, static_cast<double>(count));
    sample(family.name, "_sum", point.labels, nullptr, point.sum);
  }

  void sample(std::string_view name, std::string_view suffix, const Labels& labels,
              const double* bound, double value) {
    out_.append(name).append(suffix);
    char separator = '{';
    for (const auto& [key, text] : labels) {
      out_ += separator;
      out_.append(key).append("=\"");
      escaped(text);
      out_ += '"';
      separator = ',';
    }
    if (bound != nullptr) {
      out_ += separator;
      out_ += "le=\"";
      const auto start = out_.size();
      number(*bound);
      // The standard wants a float to look like one.
      if (std::isfinite(*bound) && out_.find_first_of(".e", start) == std::string::npos) {
        out_ += ".0";
      }
      out_ += '"';
      separator = ',';
    }
    if (separator == ',') out_ += '}';
    out_ += ' ';
    number(value);
    out_ += '\n';
  }

  void number(double value) {
    if (std::isnan(value)) {
      out_ += "NaN";
    } else if (std::isinf(value)) {
      out_ += value > 0 ? "+Inf" : "-Inf";
    } else {
      char text[32];
      out_.append(text, std::to_chars(text, text + sizeof text, value).ptr);
    }
  }

  void escaped(std::string_view text) {
    for (const char c : text) {
      if (c == '\n') {
        out_ += "\\n";
        continue;
      }
      if (c == '\\' || c == '"') out_ += '\\';
      out_ += c;
    }
  }

  std::string out_;
};

}  // namespace

MetricsFormat negotiate(std::string_view accept) {
  double text = 0;
  double open = 0;
  for (const auto& range : parse_accept(accept)) {
    const std::string_view version = range.version;
    if (range.type == "application/openmetrics-text" && (version.empty() || version == "1.0.0")) {
      open = std::max(open, range.quality);
    }
    const bool any_text = range.type == "text/*" || range.type == "*/*";
    if (any_text || (range.type == "text/plain" && (version.empty() || version == "0.0.4"))) {
      text = std::max(text, range.quality);
    }
  }
  return open > 0 && open >= text ? MetricsFormat::open_metrics : MetricsFormat::prometheus_text;
}

std::string_view content_type(MetricsFormat format) {
  return format == MetricsFormat::open_metrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

std::string render(MetricsFormat format, std::span<const MetricFamily> families) {
  if (format == MetricsFormat::prometheus_text) return render_text(families);
  OpenMetricsWriter writer;
  for (const auto& family : families) writer.family(family);
  return writer.finish();
}

}  // namespace trainwatch
