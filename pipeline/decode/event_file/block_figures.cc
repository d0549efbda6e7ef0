// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/event_file/block_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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
    squares = std::fma(difference, difference, squares);
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
// Vectors of GCC and Clang.
using Doubles = double __attribute__((vector_size(32)));
using Longs = std::int64_t __attribute__((vector_size(32)));

// Sums of four of the lanes.
struct FourSums {
  Doubles sum{};
  Doubles squares{};
  Doubles abs_sum{};

  [[gnu::target("avx2,fma"), gnu::always_inline]] void add(Doubles x, double origin) {
    constexpr std::int64_t kWithoutSign = std::numeric_limits<std::int64_t>::max();
    const Doubles difference = x - origin;
    sum += difference;
    squares = _mm256_fmadd_pd(difference, difference, squares);
    abs_sum += reinterpret_cast<Doubles>(reinterpret_cast<Longs>(x) & kWithoutSign);
  }
};

// Of eight lanes of floats, or four of doubles: compared before they are widened.
template <class Number>
struct Extremes {
  using Integer = std::conditional_t<sizeof(Number) == 4, std::int32_t, std::int64_t>;
  using Numbers __attribute__((vector_size(32))) = Number;
  using Counts __attribute__((vector_size(32))) = Integer;
  static constexpr std::size_t kCount = sizeof(Numbers) / sizeof(Number);

  Numbers min = Numbers{} + std::numeric_limits<Number>::infinity();
  Numbers max = Numbers{} - std::numeric_limits<Number>::infinity();
  Counts zeros{};

  [[gnu::target("avx2,fma"), gnu::always_inline]] void add(const char* data) {
    Numbers x;
    std::memcpy(&x, data, sizeof x);
    min = x < min ? x : min;
    max = x > max ? x : max;
    zeros -= x == 0;
  }
};

[[gnu::target("avx2,fma"), gnu::always_inline]] inline Doubles four_at(const char* data, float) {
  return _mm256_cvtps_pd(_mm_loadu_ps(reinterpret_cast<const float*>(data)));
}
[[gnu::target("avx2,fma"), gnu::always_inline]] inline Doubles four_at(const char* data, double) {
  return _mm256_loadu_pd(reinterpret_cast<const double*>(data));
}

template <class Number>
[[gnu::target("avx2,fma")]] void sum_lanes_by_avx2(const char* data, std::size_t count,
                                                   double origin,
                                                   std::array<BlockSums, kLanes>& lanes) {
  constexpr std::size_t kFour = 4;
  constexpr bool kTwice = Extremes<Number>::kCount == kFour;
  std::array<FourSums, 2> sums;
  std::array<Extremes<Number>, 2> extremes;  // of floats the first has all lanes
  for (const char* const end = data + count * sizeof(Number); data != end;
       data += kLanes * sizeof(Number)) {
    const char* const second = data + kFour * sizeof(Number);
    sums[0].add(four_at(data, Number{}), origin);
    sums[1].add(four_at(second, Number{}), origin);
    extremes[0].add(data);
    if constexpr (kTwice) extremes[1].add(second);
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const FourSums& four = sums[lane / kFour];
    const Extremes<Number>& of_lane = extremes[lane / Extremes<Number>::kCount];
    const std::size_t place = lane % Extremes<Number>::kCount;
    lanes[lane] = {four.sum[lane % kFour],
                   four.squares[lane % kFour],
                   four.abs_sum[lane % kFour],
                   static_cast<double>(of_lane.min[place]),
                   static_cast<double>(of_lane.max[place]),
                   static_cast<std::uint64_t>(of_lane.zeros[place])};
  }
}

bool runs_avx2() {
  static const bool kRuns =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
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
