// SPDX-License-Identifier: Apache-2.0
// Holds the page /metrics within its limits: which families a level of detail has, at most
// kMaxSeries series of a family, and at most so many lines in all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "pipeline/analysis/core/metric_families.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

struct MetricsConfig {
  Cardinality cardinality = Cardinality::normal;
  // Of the whole page, as Prometheus counts them: each bucket is one.
  std::size_t max_series = 100'000;
};

// Whether a page of this level has the family.
bool is_shown(std::string_view family, Cardinality cardinality);

class SeriesBudget {
 public:
  explicit SeriesBudget(const MetricsConfig& config) : config_(config) {}

  // Leaves out what the level does not have and what has no room. Of counters and histograms,
  // what has no room is summed as `train_job="__other__"`. How many series one family may have
  // never rises again, so that those sums do not fall.
  void apply(std::initializer_list<MetricFamilies*> lists);
  void apply(MetricFamilies& families) { apply({&families}); }

  // The most series that were left out at a time.
  std::uint64_t left_out() const { return left_out_; }

 private:
  void fit(std::initializer_list<MetricFamilies*> lists);

  MetricsConfig config_;
  std::size_t most_series_ = kMaxSeries;  // of a family
  std::uint64_t left_out_ = 0;
};

}  // namespace trainwatch
