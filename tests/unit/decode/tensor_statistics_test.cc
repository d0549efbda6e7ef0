// SPDX-License-Identifier: Apache-2.0
// Statistics of tensors compared with references in long double; the same for every cut.
#include "pipeline/decode/event_file/tensor_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "pipeline/decode/event_file/crc32c.h"

namespace trainwatch::testing::tensor_statistics_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

TensorAccumulator read(ElementType type, const std::string& bytes, bool keep = true) {
  TensorAccumulator numbers;
  numbers.begin(type, bytes.size() / element_size(type), keep);
  numbers.add(bytes);
  numbers.finish();
  return numbers;
}

TensorStatistics reference(const std::vector<double>& numbers) {
  TensorStatistics all;
  all.count = numbers.size();
  std::vector<long double> finite;
  for (const double x : numbers) {
    if (std::isnan(x)) ++all.nans;
    if (std::isinf(x)) ++all.infinities;
    if (x == 0) ++all.zeros;
    if (std::isfinite(x)) finite.push_back(x);
  }
  if (finite.empty()) return all;
  long double sum = 0;
  long double abs_sum = 0;
  long double squares = 0;
  all.min = kInfinity;
  all.max = -kInfinity;
  for (const long double x : finite) {
    sum += x;
    abs_sum += std::abs(x);
    squares += x * x;
    all.min = std::min(all.min, static_cast<double>(x));
    all.max = std::max(all.max, static_cast<double>(x));
  }
  const auto count = static_cast<long double>(finite.size());
  long double variance = 0;
  for (const long double x : finite) variance += (x - sum / count) * (x - sum / count);
  all.mean = static_cast<double>(sum / count);
  all.abs_mean = static_cast<double>(abs_sum / count);
  all.variance = static_cast<double>(variance / count);
  all.l2 = static_cast<double>(std::sqrt(squares));
  return all;
}

void expect_near(const TensorStatistics& found, const TensorStatistics& expected) {
  EXPECT_EQ(found.count, expected.count);
  EXPECT_EQ(found.nans, expected.nans);
  EXPECT_EQ(found.infinities, expected.infinities);
  EXPECT_EQ(found.zeros, expected.zeros);
  EXPECT_EQ(found.min, expected.min);
  EXPECT_EQ(found.max, expected.max);
  const double spread = std::sqrt(expected.variance) + 1e-300;
  EXPECT_NEAR(found.mean, expected.mean, 1e-13 * expected.abs_mean + 1e-12 * spread);
  EXPECT_NEAR(found.abs_mean, expected.abs_mean, 1e-13 * expected.abs_mean);
  EXPECT_NEAR(found.variance, expected.variance, 1e-11 * expected.variance);
  EXPECT_NEAR(found.l2, expected.l2, 1e-13 * expected.l2);
}

std::vector<double> random_numbers(std::size_t count, double mean, double deviation) {
  std::mt19937_64 random{20261125 + count};
  std::normal_distribution<double> normal{mean, deviation};
  std::vector<double> numbers(count);
  for (double& x : numbers) x = normal(random);
  return numbers;
}

TEST(TensorStatistics, AreThoseOfLongDouble) {
  for (const std::size_t count : {1U, 7U, 8U, 9U, 4095U, 4096U, 4097U, 100'003U}) {
    // The last one: a spread of a few units in the last place, far from zero.
    for (const auto& [mean, deviation] :
         {std::pair(0.0, 1.0), std::pair(-3.0, 1e-3), std::pair(1e6, 0.5)}) {
      SCOPED_TRACE(std::to_string(count) + " around " + std::to_string(mean));
      const std::vector<double> doubles = random_numbers(count, mean, deviation);
      expect_near(read(ElementType::float64, bytes_of(doubles)).statistics(), reference(doubles));
      const std::vector<float> floats(doubles.begin(), doubles.end());
      expect_near(read(ElementType::float32, bytes_of(floats)).statistics(),
                  reference({floats.begin(), floats.end()}));
    }
  }
}

TEST(TensorStatistics, WhatIsNotFiniteIsOnlyCounted) {
  std::vector<double> numbers = random_numbers(10'000, 2, 1);
  numbers[0] = numbers[4096] = numbers[9999] = std::nan("");
  numbers[17] = kInfinity;
  numbers[5000] = -kInfinity;
  numbers[18] = 0;
  numbers[19] = -0.0;
  expect_near(read(ElementType::float64, bytes_of(numbers)).statistics(), reference(numbers));
  const std::vector<float> floats(numbers.begin(), numbers.end());
  expect_near(read(ElementType::float32, bytes_of(floats)).statistics(),
              reference({floats.begin(), floats.end()}));
  const TensorStatistics none =
      read(ElementType::float32, bytes_of<float>({NAN, INFINITY})).statistics();
  EXPECT_EQ(none.finite(), 0U);
  EXPECT_EQ(none.min, 0);
  EXPECT_EQ(none.max, 0);
  EXPECT_EQ(none.l2, 0);
  EXPECT_EQ(read(ElementType::float32, "").statistics().count, 0U);
}

TEST(TensorStatistics, HugeNumbersDoNotOverflowTheMean) {
  const std::vector<double> huge(5000, 1.5e308);
  const TensorStatistics found = read(ElementType::float64, bytes_of(huge)).statistics();
  EXPECT_NEAR(found.mean, 1.5e308, 1e295);
  EXPECT_NEAR(found.abs_mean, 1.5e308, 1e295);
  EXPECT_TRUE(std::isfinite(found.l2));
  EXPECT_TRUE(std::isfinite(found.variance));
}

template <class Stored>
void expect_type(ElementType type, const std::vector<Stored>& stored,
                 const std::vector<double>& numbers) {
  const TensorAccumulator found = read(type, bytes_of(stored));
  EXPECT_EQ(std::vector<double>(found.values().begin(), found.values().end()), numbers);
  expect_near(found.statistics(), reference(numbers));
}

TEST(TensorStatistics, EveryTypeOfNumber) {
  expect_type<std::int8_t>(ElementType::int8, {-128, 0, 127}, {-128, 0, 127});
  expect_type<std::uint8_t>(ElementType::uint8, {0, 200, 255}, {0, 200, 255});
  expect_type<std::int16_t>(ElementType::int16, {-32768, 5}, {-32768, 5});
  expect_type<std::uint16_t>(ElementType::uint16, {65535, 5}, {65535, 5});
  expect_type<std::int32_t>(ElementType::int32, {-2147483647, 123456789}, {-2147483647, 123456789});
  expect_type<std::uint32_t>(ElementType::uint32, {4294967295U, 1}, {4294967295., 1});
  expect_type<std::int64_t>(ElementType::int64, {-(1LL << 53), 3}, {-9007199254740992., 3});
  expect_type<std::uint64_t>(ElementType::uint64, {1ULL << 63U}, {9223372036854775808.});
  expect_type<std::uint8_t>(ElementType::boolean, {0, 1, 2}, {0, 1, 1});
  expect_type<std::uint16_t>(ElementType::float16, {0x3C00, 0xC000, 0x0001, 0x8000, 0x7BFF},
                             {1, -2, std::ldexp(1, -24), -0.0, 65504});
  expect_type<std::uint16_t>(ElementType::bfloat16, {0x3F80, 0xC040, 0x0000}, {1, -3, 0});
  const TensorStatistics halves =
      read(ElementType::float16, bytes_of<std::uint16_t>({0x7C00, 0xFC00, 0x7E00, 0x3C00}))
          .statistics();
  EXPECT_EQ(halves.infinities, 2U);
  EXPECT_EQ(halves.nans, 1U);
  EXPECT_EQ(halves.max, 1);
}

// With the instructions of this machine or without: the same bits.
TEST(BlockFigures, AreTheSameOnEveryMachine) {
  for (const std::size_t count : {1U, 8U, 4095U, 4096U}) {
    std::vector<double> doubles = random_numbers(count, 3, 2);
    doubles[count / 2] = 0;
    const std::vector<float> floats(doubles.begin(), doubles.end());
    const auto bits = [](BlockFigures figures) {
      StateIo io = StateIo::saving();
      io(figures);
      return io.take();
    };
    for (const std::optional<double> origin : {std::optional(2.5), std::optional<double>()}) {
      const std::string of_floats = bytes_of(floats);
      EXPECT_EQ(bits(figures_of<float>(of_floats.data(), count, origin, true)),
                bits(figures_of<float>(of_floats.data(), count, origin, false)));
      const std::string of_doubles = bytes_of(doubles);
      EXPECT_EQ(bits(figures_of<double>(of_doubles.data(), count, origin, true)),
                bits(figures_of<double>(of_doubles.data(), count, origin, false)));
    }
  }
}

// Blocks whose means are far apart: what is lost of their spread is less than what the means add.
TEST(TensorStatistics, BlocksFarApartLoseNoDigits) {
  std::vector<double> numbers = random_numbers(20'000, 0, 1e-6);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] += static_cast<double>(i / 4096) * 1e5;
  expect_near(read(ElementType::float64, bytes_of(numbers)).statistics(), reference(numbers));
}

// Every half is the number that its bits say.
TEST(HalfFloat, IsThatOfTheStandard) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int exponent = static_cast<int>(bits >> 10U & 0x1FU);
    const int fraction = static_cast<int>(bits & 0x3FFU);
    const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
    const float found = of_half(static_cast<std::uint16_t>(bits));
    if (exponent == 31 && fraction != 0) {
      EXPECT_TRUE(std::isnan(found));
    } else if (exponent == 31) {
      EXPECT_EQ(found, sign * kInfinity);
    } else {
      EXPECT_EQ(found, sign * std::ldexp(exponent == 0 ? fraction : fraction + 1024,
                                         exponent == 0 ? -24 : exponent - 25));
    }
  }
}

TEST(TensorStatistics, TheSampleIsEvenlySpaced) {
  std::vector<float> numbers(10'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const TensorAccumulator found = read(ElementType::float32, bytes_of(numbers));
  ASSERT_EQ(found.sample().size(), Tensor::kMostSamples);
  for (std::size_t i = 0; i < Tensor::kMostSamples; ++i)
    EXPECT_EQ(found.sample()[i], static_cast<double>(i * 10'000 / Tensor::kMostSamples));
  const TensorAccumulator few = read(ElementType::float32, bytes_of<float>({3, 1, 2}));
  EXPECT_THAT(few.sample(), ElementsAre(3, 1, 2));
}

TEST(TensorStatistics, ValuesAreKeptIfThereIsRoom) {
  EXPECT_THAT(read(ElementType::float32, bytes_of<float>({3, 1}), false).values(), IsEmpty());
  const std::string most(Tensor::kMostValues, '\1');
  EXPECT_EQ(read(ElementType::uint8, most).values().size(), Tensor::kMostValues);
  const TensorAccumulator more = read(ElementType::uint8, most + '\1');
  EXPECT_THAT(more.values(), IsEmpty());
  EXPECT_EQ(more.statistics().count, Tensor::kMostValues + 1);
}

// To the last bit: the state of an accumulator has all that it knows.
std::string result_of(TensorAccumulator& numbers) {
  StateIo io = StateIo::saving();
  io(numbers);
  return io.take();
}

TEST(TensorStatistics, AnyCutGivesTheSameBits) {
  std::mt19937 random{20261125};
  for (const ElementType type : {ElementType::float32, ElementType::float64, ElementType::float16,
                                 ElementType::int8, ElementType::uint64}) {
    std::string bytes(9001 * element_size(type), '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    TensorAccumulator whole = read(type, bytes);
    const std::string expected = result_of(whole);
    for (int round = 0; round < 20; ++round) {
      TensorAccumulator numbers;
      numbers.begin(type, 9001, true);
      for (std::string_view rest = bytes; !rest.empty();) {
        const std::size_t size = 1 + random() % (round % 2 == 0 ? 50'000 : 300);
        numbers.add(rest.substr(0, size));
        rest.remove_prefix(std::min(size, rest.size()));
        if (random() % 4 != 0) continue;
        const std::string saved = result_of(numbers);
        StateIo io = StateIo::loading(saved);
        numbers = TensorAccumulator{};
        io(numbers);
        ASSERT_TRUE(io.complete());
      }
      numbers.finish();
      ASSERT_EQ(result_of(numbers), expected) << static_cast<int>(type);
    }
  }
}

// Bit by bit, as the polynomial says.
std::uint32_t plain_crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) * 0x82F63B78U);
  }
  return ~crc;
}

std::string random_bytes(std::size_t size, std::mt19937& random) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

TEST(Crc32cOfAnyPart, IsThatOfThePolynomial) {
  std::mt19937 random{7};
  const std::string bytes = random_bytes(3'000, random);
  for (int trial = 0; trial < 2'000; ++trial) {
    const std::size_t from = random() % 64;
    const auto part =
        std::string_view(bytes).substr(from, random() % (trial % 2 == 0 ? 600 : 2'900));
    ASSERT_EQ(crc32c(part), plain_crc32c(part)) << from << " " << part.size();
  }
}

TEST(Crc32cInPieces, IsThatOfTheWhole) {
  std::mt19937 random{20261125};
  const std::string bytes = random_bytes(20'000, random);
  const std::uint32_t expected = plain_crc32c(bytes);
  EXPECT_EQ(crc32c(bytes), expected);
  for (const std::size_t cut : {0U, 1U, 3071U, 3072U, 3073U, 9999U, 20'000U}) {
    Crc32c crc;
    crc.add(std::string_view(bytes).substr(0, cut));
    crc.add(std::string_view(bytes).substr(cut));
    EXPECT_EQ(crc.value(), expected) << cut;
  }
}

}  // namespace trainwatch::testing::tensor_statistics_test
