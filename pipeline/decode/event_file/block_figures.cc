#include "pipeline/decode/event_file/block_figures.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace trainwatch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Four elements at once, and as doubles. The attribute makes them vectors, which GCC and Clang
// turn into the instructions of the function that the code is inlined into.
using Doubles = double __attribute__((vector_size(32)));
using Longs = std::int64_t __attribute__((vector_size(32)));
constexpr std::size_t kLanes = 4;
constexpr std::size_t kSets = 2;  // of lanes, so that an addition need not wait for the last one
constexpr std::size_t kStride = kLanes * kSets;

template <class Number>
struct Vectors;
template <>
struct Vectors<float> {
  using Numbers = float __attribute__((vector_size(16)));
  using Counts = std::int32_t __attribute__((vector_size(16)));
};
template <>
struct Vectors<double> {
  using Numbers = Doubles;
  using Counts = Longs;
};

struct BlockSums {
  double sum = 0;
  double abs_sum = 0;
  double min = kInfinity;
  double max = -kInfinity;
  std::uint64_t zeros = 0;

  void add(double x) {
    sum += x;
    abs_sum += std::abs(x);
    min = std::min(min, x);
    max = std::max(max, x);
    if (x == 0) ++zeros;
  }
};

template <class Number>
double number_at(const char* data, std::size_t place) {
  Number number;
  std::memcpy(&number, data + place * sizeof number, sizeof number);
  return static_cast<double>(number);
}

template <class Number>
[[gnu::always_inline]] inline void sum_block(const char* data, std::size_t count, BlockSums& sums) {
  using Numbers = typename Vectors<Number>::Numbers;
  using Counts = typename Vectors<Number>::Counts;
  Doubles sum[kSets] = {};
  Doubles abs_sum[kSets] = {};
  Numbers min[kSets];
  Numbers max[kSets];
  Counts zeros[kSets] = {};
  for (std::size_t set = 0; set < kSets; ++set) {
    min[set] = Numbers{} + std::numeric_limits<Number>::infinity();
    max[set] = -min[set];
  }
  std::size_t at = 0;
  for (; at + kStride <= count; at += kStride) {
    for (std::size_t set = 0; set < kSets; ++set) {
      Numbers x;
      std::memcpy(&x, data + (at + set * kLanes) * sizeof(Number), sizeof x);
      const Doubles wide = __builtin_convertvector(x, Doubles);
      constexpr std::int64_t kWithoutSign = std::numeric_limits<std::int64_t>::max();
      sum[set] += wide;
      abs_sum[set] += reinterpret_cast<Doubles>(reinterpret_cast<Longs>(wide) & kWithoutSign);
      min[set] = x < min[set] ? x : min[set];
      max[set] = x > max[set] ? x : max[set];
      zeros[set] -= x == 0;
    }
  }
  for (std::size_t set = 0; set < kSets; ++set) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sums.sum += sum[set][lane];
      sums.abs_sum += abs_sum[set][lane];
      sums.min = std::min(sums.min, static_cast<double>(min[set][lane]));
      sums.max = std::max(sums.max, static_cast<double>(max[set][lane]));
      sums.zeros += static_cast<std::uint64_t>(zeros[set][lane]);
    }
  }
  for (; at < count; ++at) sums.add(number_at<Number>(data, at));
}

template <class Number>
[[gnu::always_inline]] inline void square_block(const char* data, std::size_t count, double mean,
                                                double& squares) {
  using Numbers = typename Vectors<Number>::Numbers;
  Doubles sum[kSets] = {};
  std::size_t at = 0;
  for (; at + kStride <= count; at += kStride) {
    for (std::size_t set = 0; set < kSets; ++set) {
      Numbers x;
      std::memcpy(&x, data + (at + set * kLanes) * sizeof(Number), sizeof x);
      const Doubles difference = __builtin_convertvector(x, Doubles) - mean;
      sum[set] += difference * difference;
    }
  }
  for (std::size_t set = 0; set < kSets; ++set) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) squares += sum[set][lane];
  }
  for (; at < count; ++at) {
    const double difference = number_at<Number>(data, at) - mean;
    squares += difference * difference;
  }
}

// Without fused multiply-add, which rounds otherwise.
#if defined(__x86_64__)
#define TW_FOR_AVX2 __attribute__((target("avx2")))
#else
#define TW_FOR_AVX2
#endif

template <class Number>
TW_FOR_AVX2 BlockSums sums_by_avx2(const char* data, std::size_t count) {
  BlockSums sums;
  sum_block<Number>(data, count, sums);
  return sums;
}
template <class Number>
TW_FOR_AVX2 double squares_by_avx2(const char* data, std::size_t count, double mean) {
  double squares = 0;
  square_block<Number>(data, count, mean, squares);
  return squares;
}

bool runs_avx2() {
#if defined(__x86_64__)
  static const bool kHas = __builtin_cpu_supports("avx2") != 0;
  return kHas;
#else
  return false;
#endif
}

template <class Number>
BlockSums sums_of(const char* data, std::size_t count) {
  if (runs_avx2()) return sums_by_avx2<Number>(data, count);
  BlockSums sums;
  sum_block<Number>(data, count, sums);
  return sums;
}
template <class Number>
double squares_of(const char* data, std::size_t count, double mean) {
  if (runs_avx2()) return squares_by_avx2<Number>(data, count, mean);
  double squares = 0;
  square_block<Number>(data, count, mean, squares);
  return squares;
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
    sums.add(x);
    figures.mean += x / count;
    figures.abs_mean += std::abs(x) / count;
  }
  for (const double x : numbers) figures.squares += (x - figures.mean) * (x - figures.mean);
  set_figures(figures, sums);
  return figures;
}

// Some are not finite, or their sum is not.
template <class Number>
BlockFigures figures_of_some(const char* data, std::size_t count) {
  std::vector<double> finite;
  std::uint64_t nans = 0;
  for (std::size_t at = 0; at < count; ++at) {
    const double x = number_at<Number>(data, at);
    if (std::isfinite(x)) finite.push_back(x);
    if (std::isnan(x)) ++nans;
  }
  BlockFigures figures;
  if (finite.size() < count) {
    figures = figures_of<double>(reinterpret_cast<const char*>(finite.data()), finite.size());
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
BlockFigures figures_of(const char* data, std::size_t count) {
  BlockFigures figures;
  if (count == 0) return figures;
  const BlockSums sums = sums_of<Number>(data, count);
  if (!std::isfinite(sums.abs_sum)) return figures_of_some<Number>(data, count);
  figures.count = count;
  figures.mean = sums.sum / static_cast<double>(count);
  figures.abs_mean = sums.abs_sum / static_cast<double>(count);
  figures.squares = squares_of<Number>(data, count, figures.mean);
  set_figures(figures, sums);
  return figures;
}

template BlockFigures figures_of<float>(const char*, std::size_t);
template BlockFigures figures_of<double>(const char*, std::size_t);

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
