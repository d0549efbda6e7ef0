// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/histogram.h"

#include <cmath>
#include <limits>
#include <string>

namespace trainwatch {
namespace {

using exponential_buckets::kFinest;

// Saturates: a saved count may be anything.
std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) {
  return a + std::min(b, std::numeric_limits<std::uint64_t>::max() - a);
}

// Ascending by native and then by classic bucket.
std::int32_t place_of(const HistogramCell& cell) {
  return cell.native * 65536 + cell.bucket;
}

std::int16_t at_schema(std::int16_t native, int schema) {
  for (int i = kFinest; i > schema; --i) native = exponential_buckets::coarser(native);
  return native;
}

// 1, 2.5 or 5 times a power of ten, and the last one.
bool is_coarse(double bound) {
  const double mantissa = bound / std::pow(10, std::floor(std::log10(bound) + 1e-9));
  constexpr double kMantissas[] = {1, 2.5, 5, 6};
  return std::ranges::any_of(kMantissas,
                             [mantissa](double each) { return std::fabs(mantissa - each) < 1e-6; });
}

}  // namespace

void HistogramCells::add(double value, std::size_t bucket) {
  const HistogramCell cell{1, at_schema(exponential_buckets::bucket_of(value), schema_),
                           static_cast<std::uint16_t>(bucket)};
  const auto place = std::ranges::lower_bound(cells_, place_of(cell), {}, place_of);
  if (place != cells_.end() && place_of(*place) == place_of(cell)) {
    place->count = sum_of(place->count, 1);
    return;
  }
  cells_.insert(place, cell);
  while (cells_.size() > kMostCells && schema_ > exponential_buckets::kCoarsest) coarsen();
}

void HistogramCells::coarsen() {
  --schema_;
  std::vector<HistogramCell> merged;
  merged.reserve(cells_.size());
  for (HistogramCell cell : cells_) {
    cell.native = exponential_buckets::coarser(cell.native);
    if (!merged.empty() && place_of(merged.back()) == place_of(cell)) {
      merged.back().count = sum_of(merged.back().count, cell.count);
    } else {
      merged.push_back(cell);
    }
  }
  cells_ = std::move(merged);
}

std::uint64_t HistogramCells::count() const {
  std::uint64_t total = 0;
  for (const HistogramCell& cell : cells_) total = sum_of(total, cell.count);
  return total;
}

void HistogramCells::state(StateIo& io) {
  io(cells_);
  io(schema_);
  const bool ascending = std::ranges::is_sorted(cells_, std::ranges::less_equal{}, place_of);
  const bool by_value = std::ranges::is_sorted(cells_, {}, &HistogramCell::bucket);
  const bool possible = schema_ >= exponential_buckets::kCoarsest && schema_ <= kFinest;
  if (ascending && by_value && possible && cells_.size() <= kMostCells) return;
  *this = {};
  io.fail();
}

bool HistogramCells::fits(std::size_t buckets) const {
  return cells_.empty() || cells_.back().bucket < buckets;
}

void NotableObservations::saw(const Observation& observation) {
  const auto same = std::ranges::find(kept_, observation.bucket, &Observation::bucket);
  if (same != kept_.end()) {
    if (same->at <= observation.at) *same = observation;
    return;
  }
  std::erase_if(kept_, [&](const Observation& old) { return observation.at - old.at > kRecent; });
  if (kept_.size() == kMost) {
    const auto lowest = std::ranges::min_element(kept_, {}, &Observation::bucket);
    if (lowest->bucket > observation.bucket) return;
    kept_.erase(lowest);
  }
  kept_.push_back(observation);
}

void NotableObservations::state(StateIo& io) {
  io(kept_);
  const bool finite =
      std::ranges::all_of(kept_, [](const Observation& each) { return std::isfinite(each.value); });
  const bool possible = std::ranges::all_of(kept_, is_possible, &Observation::at);
  if (kept_.size() <= kMost && finite && possible) return;
  kept_.clear();
  io.fail();
}

HistogramBounds::HistogramBounds(std::span<const double> bounds, Cardinality cardinality) {
  if (cardinality == Cardinality::full) {
    first_native_ = exponential_buckets::bucket_of(bounds.front());
    const int last = exponential_buckets::bucket_of(bounds.back());
    for (int i = *first_native_; i <= last; ++i) {
      shown_.push_back(exponential_buckets::upper_bound(i));
    }
    return;
  }
  for (const double bound : bounds) {
    bucket_.push_back(static_cast<std::uint16_t>(shown_.size()));
    if (cardinality == Cardinality::normal || is_coarse(bound)) shown_.push_back(bound);
  }
  bucket_.push_back(static_cast<std::uint16_t>(shown_.size()));
}

MetricFamily HistogramBounds::family(std::string_view name, std::string_view help) const {
  return {std::string(name), std::string(help), MetricType::histogram, shown_, {}, first_native_};
}

std::uint16_t HistogramBounds::shown_bucket(const HistogramCell& cell, int schema) const {
  if (!first_native_) return bucket_[cell.bucket];
  if (cell.native == exponential_buckets::kZero) return 0;
  const int finest = cell.native * (1 << (kFinest - schema));
  const int most = static_cast<int>(shown_.size());
  return static_cast<std::uint16_t>(std::clamp(finest - *first_native_, 0, most));
}

std::shared_ptr<MetricDetails> HistogramBounds::details(const HistogramCells& cells,
                                                        const NotableObservations& notable) const {
  auto details = std::make_shared<MetricDetails>();
  details->schema = static_cast<std::int8_t>(cells.schema());
  details->cells = cells.cells();
  for (HistogramCell& cell : details->cells) cell.bucket = shown_bucket(cell, cells.schema());
  for (const auto& [value, at, step, bucket] : notable.all()) {
    details->exemplars.push_back({value, at, step, {}});
  }
  std::ranges::sort(details->exemplars, {}, &Exemplar::value);
  return details;
}

}  // namespace trainwatch
