// SPDX-License-Identifier: Apache-2.0
// https://github.com/prometheus/client_model/blob/master/io/prometheus/client/metrics.proto
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <utility>
#include <vector>

#include "daemon/net/metrics_writer.h"
#include "trainwatch/stats/exponential_buckets.h"

namespace trainwatch {
namespace {

using protozero::pbf_writer;

// Field numbers of the messages.
namespace family_field {
enum : protozero::pbf_tag_type { name = 1, help = 2, type = 3, metric = 4 };
}
namespace metric_field {
enum : protozero::pbf_tag_type { label = 1, gauge = 2, counter = 3, histogram = 7 };
}
namespace label_field {
enum : protozero::pbf_tag_type { name = 1, value = 2 };
}
namespace value_field {  // of a counter and of a gauge
enum : protozero::pbf_tag_type { value = 1, exemplar = 2 };
}
namespace exemplar_field {
enum : protozero::pbf_tag_type { label = 1, value = 2, timestamp = 3 };
}
namespace time_field {
enum : protozero::pbf_tag_type { seconds = 1, nanos = 2 };
}
namespace bucket_field {
enum : protozero::pbf_tag_type { cumulative_count = 1, upper_bound = 2, exemplar = 3 };
}
namespace histogram_field {
enum : protozero::pbf_tag_type {
  sample_count = 1,
  sample_sum = 2,
  bucket = 3,
  schema = 5,
  zero_threshold = 6,
  zero_count = 7,
  positive_span = 12,
  positive_delta = 13,
  exemplars = 16
};
}
namespace span_field {
enum : protozero::pbf_tag_type { offset = 1, length = 2 };
}

// The enumeration MetricType of the format.
std::int32_t type_number(MetricType type) {
  constexpr std::int32_t kNumbers[] = {0, 1, 4};  // COUNTER, GAUGE, HISTOGRAM
  return kNumbers[static_cast<std::size_t>(type)];
}

void write_label(pbf_writer& parent, protozero::pbf_tag_type tag, std::string_view name,
                 std::string_view value) {
  pbf_writer label(parent, tag);
  label.add_string(label_field::name, name.data(), name.size());
  label.add_string(label_field::value, value.data(), value.size());
}

void write_exemplar(pbf_writer& parent, protozero::pbf_tag_type tag, const Exemplar& exemplar) {
  pbf_writer out(parent, tag);
  if (exemplar.step != kNoStep) {
    write_label(out, exemplar_field::label, "step", std::to_string(exemplar.step));
  }
  if (!exemplar.alert.empty()) write_label(out, exemplar_field::label, "alert_id", exemplar.alert);
  out.add_double(exemplar_field::value, exemplar.value);
  if (exemplar.at == kNoTime) return;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(exemplar.at);
  pbf_writer time(out, exemplar_field::timestamp);
  time.add_int64(time_field::seconds, seconds.time_since_epoch().count());
  time.add_int32(time_field::nanos, static_cast<std::int32_t>((exemplar.at - seconds).count()));
}

// The one that a bucket carries. Prometheus 2.42 takes only the first of a native histogram; later
// ones take all of `exemplars`.
const Exemplar* most_notable(const MetricDetails& details) {
  const auto rank = [](const Exemplar& each) { return std::pair(!each.alert.empty(), each.value); };
  const auto found = std::ranges::max_element(details.exemplars, {}, rank);
  return found == details.exemplars.end() ? nullptr : &*found;
}

// The native buckets of a histogram, as runs of buckets that follow each other.
class NativeBuckets {
 public:
  explicit NativeBuckets(const MetricDetails& details) {
    for (const HistogramCell& cell : details.cells) add(cell);
  }

  void write(pbf_writer& histogram) const {
    histogram.add_uint64(histogram_field::zero_count, zero_);
    int end = 0;
    for (const Span& span : spans_) {
      pbf_writer out(histogram, histogram_field::positive_span);
      out.add_sint32(span_field::offset, span.first - end);
      out.add_uint32(span_field::length, static_cast<std::uint32_t>(span.length));
      end = span.first + span.length;
    }
    std::vector<std::int64_t> deltas;
    deltas.reserve(counts_.size());
    std::int64_t before = 0;
    for (const std::int64_t count : counts_) deltas.push_back(count - std::exchange(before, count));
    histogram.add_packed_sint64(histogram_field::positive_delta, deltas.begin(), deltas.end());
  }

 private:
  struct Span {
    int first;
    int length;
  };

  void add(const HistogramCell& cell) {
    if (cell.native == exponential_buckets::kZero) {
      zero_ += cell.count;
      return;
    }
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const auto count = static_cast<std::int64_t>(std::min(cell.count, kMost));
    const int last = spans_.empty() ? 0 : spans_.back().first + spans_.back().length - 1;
    if (!spans_.empty() && last == cell.native) {
      counts_.back() = static_cast<std::int64_t>(
          std::min(static_cast<std::uint64_t>(counts_.back()) + cell.count, kMost));
      return;
    }
    if (!spans_.empty() && last + 1 == cell.native) {
      ++spans_.back().length;
    } else {
      spans_.push_back({cell.native, 1});
    }
    counts_.push_back(count);
  }

  std::uint64_t zero_ = 0;
  std::vector<Span> spans_;
  std::vector<std::int64_t> counts_;  // of each bucket of the spans
};

class ProtobufWriter final : public MetricsWriter {
 public:
  explicit ProtobufWriter(std::string room) : out_(std::move(room)) { out_.clear(); }

  void begin(const MetricFamily& family) override {
    family_ = &family;
    message_.clear();
    pbf_writer out(message_);
    out.add_string(family_field::name, family.name);
    out.add_string(family_field::help, family.help);
    out.add_enum(family_field::type, type_number(family.type));
  }

  void point(const MetricPoint& point) override {
    pbf_writer family(message_);
    pbf_writer metric(family, family_field::metric);
    for (const auto& [name, value] : point.labels) {
      write_label(metric, metric_field::label, name, value);
    }
    if (family_->type == MetricType::histogram) return write_histogram(metric, point);
    const bool counter = family_->type == MetricType::counter;
    pbf_writer value(metric, counter ? metric_field::counter : metric_field::gauge);
    value.add_double(value_field::value, point.value);
    if (counter && point.details && !point.details->exemplars.empty()) {
      write_exemplar(value, value_field::exemplar, point.details->exemplars.front());
    }
  }

  // A family has its length before it.
  void end() override {
    protozero::write_varint(std::back_inserter(out_), message_.size());
    out_ += message_;
  }

  std::string finish() override { return std::move(out_); }

 private:
  void write_histogram(pbf_writer& metric, const MetricPoint& point) {
    static const MetricDetails kNone;
    const MetricDetails& details = point.details ? *point.details : kNone;
    pbf_writer histogram(metric, metric_field::histogram);
    const Exemplar* notable = most_notable(details);
    BucketCursor bucket(*family_, details);
    while (bucket.next()) {
      pbf_writer out(histogram, histogram_field::bucket);
      out.add_uint64(bucket_field::cumulative_count, bucket.cumulative());
      out.add_double(bucket_field::upper_bound, bucket.bound());
      if (notable != nullptr && notable->value <= bucket.bound()) {
        write_exemplar(out, bucket_field::exemplar, *std::exchange(notable, nullptr));
      }
    }
    for (const Exemplar& exemplar : details.exemplars) {
      write_exemplar(histogram, histogram_field::exemplars, exemplar);
    }
    histogram.add_uint64(histogram_field::sample_count, bucket.cumulative());
    histogram.add_double(histogram_field::sample_sum, point.sum);
    histogram.add_sint32(histogram_field::schema, details.schema);
    histogram.add_double(histogram_field::zero_threshold, exponential_buckets::kZeroThreshold);
    NativeBuckets(details).write(histogram);
  }

  std::string out_;
  std::string message_;  // of the family
  const MetricFamily* family_ = nullptr;
};

}  // namespace

std::unique_ptr<MetricsWriter> make_protobuf_writer(std::string room) {
  return std::make_unique<ProtobufWriter>(std::move(room));
}

}  // namespace trainwatch
