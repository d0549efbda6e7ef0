// SPDX-License-Identifier: Apache-2.0
#include "rules/memory_trend.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trainwatch/stats/median.h"

namespace trainwatch {
namespace {

constexpr double kLeastRise = 1;     // percent points within the window
constexpr double kDeviations = 8;    // that the rise is larger than the median deviation from it
constexpr double kLeastShare = 0.4;  // of the mean rise, in each part of the window
constexpr double kLasting = 0.75;    // of the rise in the first part, in the last
constexpr double kHour = 3600;

}  // namespace

bool MemoryTrend::push(Time at, double value) {
  const std::int64_t number = to_ns(at) / width_.count();
  if (!buckets_.empty() && number <= buckets_.back().number) {
    buckets_.back().lowest = std::min(buckets_.back().lowest, value);
    return false;
  }
  buckets_.push_back({number, value});
  if (buckets_.size() > kBuckets) buckets_.erase(buckets_.begin());
  rise_ = find_rise();
  return buckets_.size() > 1;
}

std::optional<double> MemoryTrend::level() const {
  if (buckets_.size() < 2) return std::nullopt;
  return buckets_[buckets_.size() - 2].lowest;
}

std::optional<MemoryTrend::Rise> MemoryTrend::find_rise() const {
  if (!enough()) return std::nullopt;
  const Bucket& first = buckets_.front();
  const Bucket& last = buckets_[buckets_.size() - 2];
  // A level that stays costs nothing.
  if (last.lowest - first.lowest < kLeastRise / 2 || !steady()) return std::nullopt;
  const double per_bucket = slope();
  const std::int64_t buckets = last.number - first.number;
  const double risen = per_bucket * static_cast<double>(buckets);
  if (risen < kLeastRise || risen < kDeviations * deviation(per_bucket)) return std::nullopt;
  return Rise{.per_hour = per_bucket * kHour / to_seconds(width_),
              .from = first.lowest,
              .level = last.lowest,
              .span = width_ * buckets};
}

double MemoryTrend::median(std::size_t begin, std::size_t end) const {
  std::array<double, kBuckets> values{};
  for (std::size_t i = begin; i < end; ++i) values[i - begin] = buckets_[i].lowest;
  return median_in({values.data(), end - begin});
}

// The level rises from quarter to quarter, and as much at the end as at the beginning: it neither
// jumped nor approaches a limit.
bool MemoryTrend::steady() const {
  const std::size_t complete = buckets_.size() - 1;
  const auto quarter = [&](std::size_t i) {
    return median(complete * i / 4, complete * (i + 1) / 4);
  };
  const double first = quarter(0);
  const double last = quarter(3);
  const double mean = (last - first) / 3;
  if (mean <= 0) return false;  // most jobs are decided here
  const double second = quarter(1);
  const double third = quarter(2);
  const std::array rises = {second - first, third - second, last - third};
  return rises[2] >= kLasting * rises[0] &&
         std::ranges::all_of(rises, [&](double rise) { return rise >= kLeastShare * mean; });
}

// Theil and Sen: the median of the slopes between all pairs. Up to 29 % of the stretches may be
// outliers.
double MemoryTrend::slope() const {
  std::array<double, kBuckets * kBuckets / 2> slopes{};
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < buckets_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      slopes[count++] = (buckets_[i].lowest - buckets_[j].lowest) /
                        static_cast<double>(buckets_[i].number - buckets_[j].number);
    }
  }
  return median_in({slopes.data(), count});
}

double MemoryTrend::deviation(double slope) const {
  std::vector<double> rests;
  for (std::size_t i = 0; i + 1 < buckets_.size(); ++i) {
    const auto after = static_cast<double>(buckets_[i].number - buckets_.front().number);
    rests.push_back(buckets_[i].lowest - slope * after);
  }
  const double middle = median_of(rests);
  for (double& rest : rests) rest = std::fabs(rest - middle);
  return median_of(std::move(rests));
}

void MemoryTrend::state(StateIo& io) {
  io(buckets_);
  bool own = buckets_.size() <= kBuckets;
  for (std::size_t i = 0; own && i < buckets_.size(); ++i) {
    own = std::fabs(buckets_[i].lowest) <= kLargest && buckets_[i].number >= 0 &&
          (i == 0 || buckets_[i - 1].number < buckets_[i].number);
  }
  if (!own) {
    io.fail();
    buckets_.clear();
  }
  if (io.is_loading()) rise_ = find_rise();
}

}  // namespace trainwatch
