// SPDX-License-Identifier: Apache-2.0
// Writes metric families in one of the formats that Prometheus reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "trainwatch/snapshot.h"

namespace trainwatch {

enum class MetricsFormat : std::uint8_t {
  prometheus_text,  // 0.0.4
  open_metrics,     // 1.0.0: with exemplars
  protobuf,  // io.prometheus.client.MetricFamily, delimited: with exemplars and native histograms
  count_,
};

class MetricsWriter {
 public:
  virtual ~MetricsWriter() = default;

  // A family: begin(), then its points, then end(). `family` must live until then; its own points
  // do not matter.
  virtual void begin(const MetricFamily& family) = 0;
  virtual void point(const MetricPoint& point) = 0;
  virtual void end() = 0;
  // The whole page. Call once, last.
  virtual std::string finish() = 0;
};

// `room` may have capacity: the page is written into it.
std::unique_ptr<MetricsWriter> make_text_writer(MetricsFormat format, std::string room);
std::unique_ptr<MetricsWriter> make_protobuf_writer(std::string room);

// What the writers have in common: a histogram's buckets one after the other.
class BucketCursor {
 public:
  // Both must outlive the object.
  BucketCursor(const MetricFamily& family, const MetricDetails& details);

  // Goes to the next bucket that the series has; false: there is none.
  bool next();

  std::size_t index() const { return bucket_; }  // of its bound; that behind the last is +Inf
  double bound() const;
  std::uint64_t cumulative() const { return cumulative_; }
  // The latest that fell into the bucket; null: none.
  const Exemplar* exemplar() const { return exemplar_; }

 private:
  bool shows(std::size_t bucket) const;

  const MetricFamily& family_;
  const MetricDetails& details_;
  std::size_t bucket_ = static_cast<std::size_t>(-1);
  std::size_t cell_ = 0;
  std::size_t next_exemplar_ = 0;
  std::uint64_t cumulative_ = 0;
  const Exemplar* exemplar_ = nullptr;
};

}  // namespace trainwatch
