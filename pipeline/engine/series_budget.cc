// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/series_budget.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

namespace trainwatch {
namespace {

// Detail by phase, device or kind of activity.
constexpr std::array<std::string_view, 15> kNotLow = {
    "trainwatch_step_phase_seconds",
    "trainwatch_batch_time_seconds",
    "trainwatch_dataloader_workers",
    "trainwatch_disk_operations_per_second",
    "trainwatch_system_gpu_clock_hertz",
    "trainwatch_system_gpu_throttle_reasons",
    "trainwatch_system_gpu_temperature_celsius",
    "trainwatch_system_gpu_power_watts",
    "trainwatch_system_gpu_ecc_errors",
    "trainwatch_system_gpu_xid",
    "trainwatch_kernel_launch_delay_seconds",
    "trainwatch_gpu_queue_length_max",
    "trainwatch_gpu_copy_bytes_per_second",
    "trainwatch_gpu_time_seconds_total",
    "trainwatch_rule_evaluations_total",
};

std::size_t lines_of(const MetricFamily& family) {
  return family.type == MetricType::histogram ? family.bounds.size() + 3 : 1;
}

bool is_other(const MetricPoint& point) {
  return std::ranges::any_of(point.labels, [](const Labels::Label& label) {
    return label.first == "train_job" && label.second == kOther;
  });
}

// What tells series of one subject apart.
Labels labels_of_other(const Labels& labels) {
  Labels other = {{"train_job", kOther}};
  for (const auto& [name, value] : labels) {
    constexpr std::string_view kOfSubject[] = {"train_job", "node", "rank", "process", "device"};
    if (std::ranges::find(kOfSubject, name) == std::end(kOfSubject)) other.add(name, value);
  }
  return other;
}

// Adds the counts of another histogram with the same bounds.
std::shared_ptr<const MetricDetails> sum_of(const std::shared_ptr<const MetricDetails>& a,
                                            const std::shared_ptr<const MetricDetails>& b) {
  if (!a || !b) return a ? a : b;
  auto sum = std::make_shared<MetricDetails>();
  sum->schema = std::min(a->schema, b->schema);
  std::map<std::pair<std::int16_t, std::uint16_t>, std::uint64_t> cells;
  for (const MetricDetails* part : {a.get(), b.get()}) {
    for (const HistogramCell& cell : part->cells) {
      std::int16_t native = cell.native;
      for (int i = part->schema - sum->schema; i > 0; --i) {
        native = exponential_buckets::coarser(native);
      }
      cells[{native, cell.bucket}] += cell.count;
    }
  }
  for (const auto& [place, count] : cells) {
    sum->cells.push_back({count, place.first, place.second});
  }
  return sum;
}

// Leaves the first `most` series; returns how many are left out.
std::size_t cut(MetricFamily& family, std::size_t most) {
  if (family.points.size() <= most) return 0;
  const bool adds_up = family.type != MetricType::gauge;
  std::unordered_map<Labels, MetricPoint, Labels::Hash> others;
  std::vector<MetricPoint> kept;
  kept.reserve(most);
  std::size_t left_out = 0;
  for (MetricPoint& point : family.points) {
    const bool other = is_other(point);
    if (!other && kept.size() < most) {
      kept.push_back(std::move(point));
      continue;
    }
    if (!other) ++left_out;
    if (!adds_up && !other) continue;
    MetricPoint& sum = others[labels_of_other(point.labels)];
    sum.value += point.value;
    sum.sum += point.sum;
    if (family.type == MetricType::histogram) sum.details = sum_of(sum.details, point.details);
  }
  const std::size_t own = kept.size();
  for (auto& [labels, point] : others) {
    point.labels = labels;
    kept.push_back(std::move(point));
  }
  std::ranges::sort(kept.begin() + static_cast<std::ptrdiff_t>(own), kept.end(), {},
                    &MetricPoint::labels);
  family.points = std::move(kept);
  return left_out;
}

}  // namespace

bool is_shown(std::string_view family, Cardinality cardinality) {
  return cardinality != Cardinality::low || std::ranges::find(kNotLow, family) == kNotLow.end();
}

void SeriesBudget::fit(std::initializer_list<MetricFamilies*> lists) {
  const auto lines = [&lists](std::size_t most) {
    std::size_t sum = 0;
    for (const MetricFamilies* const families : lists) {
      for (const MetricFamily& family : *families) {
        sum += std::min(family.points.size(), most) * lines_of(family);
      }
    }
    return sum;
  };
  if (lines(most_series_) <= config_.max_series) return;
  std::size_t fits = 0;
  std::size_t too_many = most_series_;
  while (too_many - fits > 1) {
    const std::size_t middle = (fits + too_many) / 2;
    (lines(middle) <= config_.max_series ? fits : too_many) = middle;
  }
  most_series_ = fits;
}

void SeriesBudget::apply(std::initializer_list<MetricFamilies*> lists) {
  for (MetricFamilies* const families : lists) {
    std::erase_if(*families, [this](const MetricFamily& family) {
      return !is_shown(family.name, config_.cardinality);
    });
  }
  fit(lists);
  std::uint64_t left_out = 0;
  for (MetricFamilies* const families : lists) {
    for (MetricFamily& family : *families) left_out += cut(family, most_series_);
  }
  left_out_ = std::max(left_out_, left_out);
}

}  // namespace trainwatch
