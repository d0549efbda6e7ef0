#include "pipeline/decode/event_file/block_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace trainwatch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kLanes = 8;

// Of the elements of one lane, or of all: sums of the differences from `origin`.
struct BlockSums {
  double sum = 0;
  double squares = 0;
  double abs_sum = 0;
  double min = kInfinity;
  double max = -kInfinity;
  std::uint64_t zeros = 0;

  void add(double x, double origin) {
    const double difference = x - origin;
    sum += difference;
    squares += difference * difference;
    abs_sum += std::abs(x);
    min = std::min(min, x);
    max = std::max(max, x);
    if (x == 0) ++zeros;
  }
  void join(const BlockSums& lane) {
    sum += lane.sum;
    squares += lane.squares;
    abs_sum += lane.abs_sum;
    min = std::min(min, lane.min);
    max = std::max(max, lane.max);
    zeros += lane.zeros;
  }
};

template <class Number>
double number_at(const char* data, std::size_t place) {
  Number number;
  std::memcpy(&number, data + place * sizeof number, sizeof number);
  return static_cast<double>(number);
}

// Element i belongs to lane i % kLanes.
template <class Number>
void sum_lanes(const char* data, std::size_t count, double origin,
               std::array<BlockSums, kLanes>& lanes) {
  for (std::size_t at = 0; at < count; at += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane].add(number_at<Number>(data, at + lane), origin);
  }
}

#if defined(__x86_64__)
// Vectors of GCC and Clang. Without fused multiply-add, which rounds otherwise.
template <class Number>
struct Vectors;
template <>
struct Vectors<float> {
  using Numbers = float __attribute__((vector_size(16)));
  using Counts = std::int32_t __attribute__((vector_size(16)));
};
template <>
struct Vectors<double> {
  using Numbers = double __attribute__((vector_size(32)));
  using Counts = std::int64_t __attribute__((vector_size(32)));
};

// Four of the lanes.
template <class Number>
struct FourLanes {
  using Doubles = double __attribute__((vector_size(32)));
  using Longs = std::int64_t __attribute__((vector_size(32)));
  using Numbers = typename Vectors<Number>::Numbers;
  using Counts = typename Vectors<Number>::Counts;
  static constexpr std::size_t kCount = 4;

  Doubles sum{};
  Doubles squares{};
  Doubles abs_sum{};
  Numbers min;
  Numbers max;
  Counts zeros{};
};

template <class Number>
__attribute__((target("avx2"), always_inline)) inline void clear(FourLanes<Number>& lanes) {
  using Lanes = FourLanes<Number>;
  lanes.min = typename Lanes::Numbers{} + std::numeric_limits<Number>::infinity();
  lanes.max = -lanes.min;
}

template <class Number>
__attribute__((target("avx2"), always_inline)) inline void add_four(FourLanes<Number>& lanes,
                                                                    const char* data,
                                                                    double origin) {
  using Lanes = FourLanes<Number>;
  constexpr std::int64_t kWithoutSign = std::numeric_limits<std::int64_t>::max();
  typename Lanes::Numbers x;
  std::memcpy(&x, data, sizeof x);
  const auto wide = __builtin_convertvector(x, typename Lanes::Doubles);
  const auto difference = wide - origin;
  lanes.sum += difference;
  lanes.squares += difference * difference;
  lanes.abs_sum += reinterpret_cast<typename Lanes::Doubles>(
      reinterpret_cast<typename Lanes::Longs>(wide) & kWithoutSign);
  lanes.min = x < lanes.min ? x : lanes.min;
  lanes.max = x > lanes.max ? x : lanes.max;
  lanes.zeros -= x == 0;
}

template <class Number>
__attribute__((target("avx2"))) void sum_lanes_by_avx2(const char* data, std::size_t count,
                                                       double origin,
                                                       std::array<BlockSums, kLanes>& lanes) {
  constexpr std::size_t kFour = FourLanes<Number>::kCount;
  FourLanes<Number> first;
  FourLanes<Number> second;
  clear(first);
  clear(second);
  for (std::size_t at = 0; at < count; at += kLanes) {
    add_four(first, data + at * sizeof(Number), origin);
    add_four(second, data + (at + kFour) * sizeof(Number), origin);
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const FourLanes<Number>& from = lane < kFour ? first : second;
    const std::size_t place = lane % kFour;
    lanes[lane] = {from.sum[place],
                   from.squares[place],
                   from.abs_sum[place],
                   static_cast<double>(from.min[place]),
                   static_cast<double>(from.max[place]),
                   static_cast<std::uint64_t>(from.zeros[place])};
  }
}

bool runs_avx2() {
  static const bool kRuns = __builtin_cpu_supports("avx2") != 0;
  return kRuns;
}
#endif

template <class Number>
BlockSums sums_of(const char* data, std::size_t count, double origin, bool vectors) {
  std::array<BlockSums, kLanes> lanes;
  const std::size_t whole = count / kLanes * kLanes;
#if defined(__x86_64__)
  if (vectors && runs_avx2()) {
    sum_lanes_by_avx2<Number>(data, whole, origin, lanes);
  } else {
    sum_lanes<Number>(data, whole, origin, lanes);
  }
#else
  static_cast<void>(vectors);
  sum_lanes<Number>(data, whole, origin, lanes);
#endif
  BlockSums all;
  for (const BlockSums& lane : lanes) all.join(lane);
  for (std::size_t at = whole; at < count; ++at) all.add(number_at<Number>(data, at), origin);
  return all;
}

void set_figures(BlockFigures& figures, const BlockSums& sums) {
  figures.zeros = sums.zeros;
  figures.min = sums.min;
  figures.max = sums.max;
}

// Of finite numbers whose sum is none.
BlockFigures figures_of_huge(const std::vector<double>& numbers) {
  BlockFigures figures;
  const auto count = static_cast<double>(numbers.size());
  BlockSums sums;
  for (const double x : numbers) {
    sums.add(x, 0);
    figures.mean += x / count;
    figures.abs_mean += std::abs(x) / count;
  }
  for (const double x : numbers) figures.squares += (x - figures.mean) * (x - figures.mean);
  set_figures(figures, sums);
  return figures;
}

// Some are not finite, or their sum is not.
template <class Number>
BlockFigures figures_of_some(const char* data, std::size_t count, double origin, bool vectors) {
  std::vector<double> finite;
  std::uint64_t nans = 0;
  for (std::size_t at = 0; at < count; ++at) {
    const double x = number_at<Number>(data, at);
    if (std::isfinite(x)) finite.push_back(x);
    if (std::isnan(x)) ++nans;
  }
  BlockFigures figures;
  if (finite.size() < count) {
    const auto* const bytes = reinterpret_cast<const char*>(finite.data());
    figures = figures_of<double>(bytes, finite.size(), origin, vectors);
  } else {
    figures = figures_of_huge(finite);
  }
  figures.count = count;
  figures.nans = nans;
  figures.infinities = count - nans - finite.size();
  return figures;
}

}  // namespace

template <class Number>
BlockFigures figures_of(const char* data, std::size_t count, std::optional<double> origin,
                        bool vectors) {
  BlockFigures figures;
  if (count == 0) return figures;
  const auto size = static_cast<double>(count);
  double from = origin.value_or(0);
  BlockSums sums = sums_of<Number>(data, count, from, vectors);
  if (!std::isfinite(sums.abs_sum) || !std::isfinite(sums.squares))
    return figures_of_some<Number>(data, count, from, vectors);
  if (!origin) {
    from = sums.sum / size;
    sums = sums_of<Number>(data, count, from, vectors);
  }
  figures.count = count;
  figures.mean = from + sums.sum / size;
  figures.abs_mean = sums.abs_sum / size;
  figures.squares = std::max(0.0, sums.squares - sums.sum * sums.sum / size);
  set_figures(figures, sums);
  return figures;
}

template BlockFigures figures_of<float>(const char*, std::size_t, std::optional<double>, bool);
template BlockFigures figures_of<double>(const char*, std::size_t, std::optional<double>, bool);

void BlockFigures::join(const BlockFigures& other) {
  const auto a = static_cast<double>(finite());
  const auto b = static_cast<double>(other.finite());
  count += other.count;
  nans += other.nans;
  infinities += other.infinities;
  if (b == 0) return;
  if (a == 0) {
    const BlockFigures before = *this;
    *this = other;
    count = before.count;
    nans = before.nans;
    infinities = before.infinities;
    return;
  }
  const double share = b / (a + b);
  const double difference = other.mean - mean;
  zeros += other.zeros;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  mean = std::isfinite(difference) ? mean + difference * share
                                   : mean * (1 - share) + other.mean * share;
  abs_mean += (other.abs_mean - abs_mean) * share;
  squares += other.squares + difference * difference * a * share;
}

}  // namespace trainwatch
