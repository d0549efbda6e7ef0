// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/metrics_writer.h"

#include <algorithm>
#include <limits>

#include "trainwatch/stats/exponential_buckets.h"

namespace trainwatch {

BucketCursor::BucketCursor(const MetricFamily& family, const MetricDetails& details)
    : family_(family), details_(details) {}

double BucketCursor::bound() const {
  return bucket_ < family_.bounds.size() ? family_.bounds[bucket_]
                                         : std::numeric_limits<double>::infinity();
}

bool BucketCursor::shows(std::size_t bucket) const {
  if (!family_.first_native || bucket == family_.bounds.size()) return true;
  const int apart = 1 << (exponential_buckets::kFinest - details_.schema);
  return (*family_.first_native + static_cast<int>(bucket)) % apart == 0;
}

bool BucketCursor::next() {
  do {
    if (++bucket_ > family_.bounds.size()) return false;
  } while (!shows(bucket_));
  const auto& cells = details_.cells;
  for (; cell_ < cells.size() && cells[cell_].bucket <= bucket_; ++cell_) {
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - cumulative_;
    cumulative_ += std::min(cells[cell_].count, room);
  }
  exemplar_ = nullptr;
  const auto& exemplars = details_.exemplars;
  const double upper = bound();
  for (; next_exemplar_ < exemplars.size(); ++next_exemplar_) {
    const Exemplar& each = exemplars[next_exemplar_];
    if (each.value > upper) break;
    if (exemplar_ == nullptr || each.at > exemplar_->at) exemplar_ = &each;
  }
  return true;
}

}  // namespace trainwatch
