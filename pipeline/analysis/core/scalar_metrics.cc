// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/scalar_metrics.h"

namespace trainwatch {

void ScalarMetrics::on(const Scalar& scalar) {
  changed_ = true;
  const auto subject = latest_.find(scalar.subject);
  if (subject != latest_.end()) {
    const auto known = subject->second.find(scalar.tag);
    if (known != subject->second.end()) {
      known->second = {scalar.value, scalar.kind};
      return;
    }
  }
  const std::size_t tags = subject == latest_.end() ? 0 : subject->second.size();
  if (series_ >= kMaxSeries || tags >= kMostTags) {
    dropped_ += left_out_.add(scalar.subject, scalar.tag) ? 1 : 0;
    return;
  }
  latest_[scalar.subject][scalar.tag] = {scalar.value, scalar.kind};
  ++series_;
}

void ScalarMetrics::collect(const MetricsView& view, std::vector<MetricFamily>& out) const {
  MetricFamily scalars =
      family("trainwatch_scalar", "Last value of a tag that the job logs.", MetricType::gauge);
  for (const auto& [subject, tags] : latest_) {
    for (const auto& [tag, latest] : tags) {
      if (view.cardinality == Cardinality::low && latest.kind == ScalarKind::other) continue;
      Labels own = with(labels_of(interner_, subject), "tag", interner_.text(tag));
      scalars.points.push_back({std::move(own), latest.value, {}, 0});
    }
  }
  out.push_back(std::move(scalars));
}

void ScalarMetrics::state(StateIo& io) {
  io(latest_);
  io(dropped_);
  if (!io.is_loading()) return;
  series_ = 0;
  for (const auto& [subject, tags] : latest_) {
    series_ += tags.size();
    if (tags.size() > kMostTags) io.fail();
  }
  if (series_ > kMaxSeries) io.fail();
}

}  // namespace trainwatch
