// SPDX-License-Identifier: Apache-2.0
// The buckets of Prometheus' native histograms. At schema s, bucket i holds the values in
// (2^((i-1)/2^s), 2^(i/2^s)]; two buckets of a schema are one of the schema below it. At schema 4,
// the highest here, a bucket is 4.4 % wide.
// https://prometheus.io/docs/specs/native_histograms/
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

namespace trainwatch::exponential_buckets {

inline constexpr int kFinest = 4;
inline constexpr int kCoarsest = -4;
inline constexpr double kZeroThreshold =
    2.938735877055719e-39;  // 2^-128, as the clients of Prometheus have it
inline constexpr std::int16_t kZero = std::numeric_limits<std::int16_t>::min();  // up to it

// 2^(i/16) / 2: upper bounds of the buckets of schema 4 from 0.5 on.
inline constexpr std::array kFractions = {0.5,
                                          0.5221368912137069,
                                          0.5452538663326288,
                                          0.5693943173783458,
                                          0.5946035575013605,
                                          0.620928906036742,
                                          0.6484197773255048,
                                          0.6771277734684463,
                                          0.7071067811865476,
                                          0.7384130729697497,
                                          0.7711054127039704,
                                          0.8052451659746271,
                                          0.8408964152537145,
                                          0.8781260801866497,
                                          0.9170040432046712,
                                          0.9576032806985737};

// How many of them are smaller than the fractions that begin with the same five bits; at most one
// more lies among these.
inline constexpr std::array kSmaller = [] {
  std::array<std::uint8_t, 32> smaller{};
  for (std::size_t i = 0; i < smaller.size(); ++i) {
    const double least = 0.5 + static_cast<double>(i) / 64;
    smaller[i] =
        static_cast<std::uint8_t>(std::ranges::lower_bound(kFractions, least) - kFractions.begin());
  }
  return smaller;
}();

// The bucket of a finite value at schema 4; kZero for what is not positive.
inline std::int16_t bucket_of(double value) {
  if (value <= kZeroThreshold) return kZero;
  const auto bits = std::bit_cast<std::uint64_t>(value);  // of a normal number
  constexpr std::uint64_t kHalf = 1022;                   // the exponent of 0.5
  const double fraction =
      std::bit_cast<double>((bits & ((std::uint64_t{1} << 52U) - 1)) | kHalf << 52U);
  std::int64_t place = kSmaller[bits >> 47U & 31U];
  if (place < std::ssize(kFractions) && kFractions[static_cast<std::size_t>(place)] < fraction) {
    ++place;
  }
  return static_cast<std::int16_t>(place + (static_cast<std::int64_t>(bits >> 52U) - 1023) * 16);
}

// The bucket of the next lower schema that holds the bucket.
constexpr std::int16_t coarser(std::int16_t bucket) {
  if (bucket == kZero) return kZero;
  return static_cast<std::int16_t>((bucket + (bucket > 0 ? 1 : 0)) / 2);
}

// Of a bucket at schema 4.
inline double upper_bound(int bucket) {
  const int whole = bucket >> 4;
  return std::ldexp(kFractions[static_cast<std::size_t>(bucket - whole * 16)], whole + 1);
}

}  // namespace trainwatch::exponential_buckets
