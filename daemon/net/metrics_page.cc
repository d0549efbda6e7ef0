#include "daemon/net/metrics_page.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/net/accept.h"

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
  for (const auto& [name, value] : point.labels)
    out.label.push_back({std::string(name), std::string(value)});
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

// One family at a time: a large page has tens of thousands of points.
class TextWriter {
 public:
  explicit TextWriter(std::string room) : stream_(std::move(room)) {}

  void family(const MetricFamily& family) {
    std::vector<prometheus::MetricFamily> one(1);
    one[0].name = family.name;
    one[0].help = family.help;
    one[0].type = peer_type(family.type);
    one[0].metric.reserve(family.points.size());
    for (const auto& point : family.points) one[0].metric.push_back(peer_point(family, point));
    prometheus::TextSerializer{}.Serialize(stream_, one);
  }

  std::string finish() { return std::move(stream_).str(); }

 private:
  std::ostringstream stream_;
};

const MetricFamily* find_family(std::span<const MetricFamily> families, std::string_view name) {
  const auto found = std::ranges::find(families, name, &MetricFamily::name);
  return found == families.end() ? nullptr : &*found;
}

MetricFamily joined(MetricFamily family, const MetricFamily& more) {
  family.points.insert(family.points.end(), more.points.begin(), more.points.end());
  return family;
}

// More than a page takes, so that its text is not moved as it grows: a large one has megabytes.
std::size_t room_for(std::span<const MetricFamily> families) {
  constexpr std::size_t kValue = 48;  // with a suffix, "le", what separates labels, and the value
  std::size_t room = 0;
  for (const auto& family : families) {
    room += 2 * family.name.size() + family.help.size() + kValue;
    for (const auto& point : family.points) {
      std::size_t line = family.name.size() + kValue;
      for (const auto& [name, value] : point.labels) line += name.size() + value.size();
      room += line * (point.cumulative.size() + 2);
    }
  }
  return room;
}

// OpenMetrics 1.0, which prometheus-cpp does not support.
class OpenMetricsWriter {
 public:
  explicit OpenMetricsWriter(std::string room) : out_(std::move(room)) {}

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
      // The standard requires a float to look like one.
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
  for (const AcceptedRange& range : parse_accept(accept)) {
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

std::string render(MetricsFormat format, std::span<const MetricFamily> families,
                   std::span<const MetricFamily> more) {
  std::string room;
  room.reserve(room_for(families) + room_for(more));
  const auto write = [&](auto writer) {
    for (const auto& family : families) {
      const MetricFamily* const same = find_family(more, family.name);
      if (same == nullptr) {
        writer.family(family);
      } else {
        writer.family(joined(family, *same));
      }
    }
    for (const auto& family : more) {
      if (find_family(families, family.name) == nullptr) writer.family(family);
    }
    return writer.finish();
  };
  return format == MetricsFormat::prometheus_text ? write(TextWriter(std::move(room)))
                                                  : write(OpenMetricsWriter(std::move(room)));
}

std::shared_ptr<const std::string> RenderedPages::page(
    MetricsFormat format, Clock::time_point now, std::span<const MetricFamily> families,
    const std::function<std::vector<MetricFamily>()>& more) {
  Page& page = pages_[static_cast<std::size_t>(format)];
  if (!page.text || is_old(page, now)) {
    page.text = nullptr;
    page.text = std::make_shared<const std::string>(render(format, families, more()));
    page.rendered = now;
  }
  return page.text;
}

void RenderedPages::forget_old(Clock::time_point now) {
  for (Page& page : pages_) {
    if (is_old(page, now)) page.text = nullptr;
  }
}

}  // namespace trainwatch
