// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "daemon/net/metrics_writer.h"

namespace trainwatch {
namespace {

constexpr std::string_view kTypes[] = {"counter", "gauge", "histogram"};

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
  } else {
    char text[32];
    out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
  }
}

void append_number(std::string& out, std::uint64_t value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (quotes && c == '"')) out += '\\';
    out += c;
  }
}

// As Prometheus writes it itself when it reads protobuf: a series must not have another label for
// each format.
std::string bound_text(double bound) {
  if (!std::isfinite(bound)) return bound > 0 ? "+Inf" : "-Inf";
  const bool plain = std::fabs(bound) >= 1e-4 && std::fabs(bound) < 1e21;
  char text[400];
  const auto format =
      plain || bound == 0 ? std::chars_format::fixed : std::chars_format::scientific;
  std::string out(text, std::to_chars(text, text + sizeof text, bound, format).ptr);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

// Both text formats. Labels are written once for each series, however many lines it has.
class TextWriter final : public MetricsWriter {
 public:
  TextWriter(MetricsFormat format, std::string room)
      : open_(format == MetricsFormat::open_metrics), out_(std::move(room)) {
    out_.clear();
  }

  void begin(const MetricFamily& family) override {
    family_ = &family;
    name_ = family.name;
    const bool counter = family.type == MetricType::counter;
    if (open_ && counter && name_.ends_with("_total")) name_.remove_suffix(6);
    suffix_ = open_ && counter ? "_total" : "";
    const auto type = [&] {
      out_.append("# TYPE ").append(name_).append(" ");
      out_.append(kTypes[static_cast<std::size_t>(family.type)]).append("\n");
    };
    if (open_) type();
    out_.append("# HELP ").append(name_).append(" ");
    append_escaped(out_, family.help, open_);
    out_ += '\n';
    if (!open_) type();
    bounds_.clear();
    for (const double bound : family.bounds) bounds_.push_back(bound_text(bound));
  }

  void point(const MetricPoint& point) override {
    labels_.clear();
    for (const auto& [key, text] : point.labels) {
      labels_.append(labels_.empty() ? "{" : ",").append(key).append("=\"");
      append_escaped(labels_, text, true);
      labels_ += '"';
    }
    if (family_->type == MetricType::histogram) return histogram(point);
    line(suffix_);
    append_number(out_, point.value);
    if (point.details && !point.details->exemplars.empty()) {
      exemplar(point.details->exemplars.front());
    }
    out_ += '\n';
  }

  void end() override {}

  std::string finish() override {
    if (open_) out_ += "# EOF\n";
    return std::move(out_);
  }

 private:
  void line(std::string_view suffix) {
    out_.append(name_).append(suffix);
    if (!labels_.empty()) out_.append(labels_).append("}");
    out_ += ' ';
  }

  void histogram(const MetricPoint& point) {
    static const MetricDetails kNone;
    BucketCursor bucket(*family_, point.details ? *point.details : kNone);
    while (bucket.next()) {
      out_.append(name_).append("_bucket").append(labels_.empty() ? "{" : labels_);
      out_.append(labels_.empty() ? "le=\"" : ",le=\"");
      out_.append(bucket.index() < bounds_.size() ? bounds_[bucket.index()] : "+Inf");
      out_.append("\"} ");
      append_number(out_, bucket.cumulative());
      if (const Exemplar* found = bucket.exemplar()) exemplar(*found);
      out_ += '\n';
    }
    line("_count");
    append_number(out_, bucket.cumulative());
    out_ += '\n';
    line("_sum");
    append_number(out_, point.sum);
    out_ += '\n';
  }

  void exemplar(const Exemplar& exemplar) {
    if (!open_) return;
    out_ += " # {";
    if (exemplar.step != kNoStep) {
      out_ += "step=\"";
      out_.append(std::to_string(exemplar.step)).append("\"");
    }
    if (!exemplar.alert.empty()) {
      out_ += exemplar.step != kNoStep ? ",alert_id=\"" : "alert_id=\"";
      append_escaped(out_, exemplar.alert, true);
      out_ += '"';
    }
    out_ += "} ";
    append_number(out_, exemplar.value);
    if (exemplar.at != kNoTime) {
      const auto ms = std::chrono::floor<std::chrono::milliseconds>(exemplar.at.time_since_epoch());
      char text[32];
      std::snprintf(text, sizeof text, " %.3f", static_cast<double>(ms.count()) / 1e3);
      out_ += text;
    }
  }

  const bool open_;
  std::string out_;
  const MetricFamily* family_ = nullptr;
  std::string_view name_;
  std::string_view suffix_;
  std::string labels_;               // of the point: "{a=\"b\"", without the end
  std::vector<std::string> bounds_;  // of the family
};

}  // namespace

std::unique_ptr<MetricsWriter> make_text_writer(MetricsFormat format, std::string room) {
  return std::make_unique<TextWriter>(format, std::move(room));
}

}  // namespace trainwatch
