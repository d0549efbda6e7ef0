// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/tensor_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "unit/tensors/tensor_record.h"

namespace trainwatch {
namespace tensor_value_test {

using namespace tensor_record;

using Doubles = std::vector<double>;
using Integers = std::vector<std::int64_t>;
using Naturals = std::vector<std::uint64_t>;
using Strings = std::vector<std::string>;

TensorValue read(const std::string& proto, Checksum checksum = Checksum::own) {
  const auto value = read_tensor_record(frame(event(proto), checksum));
  EXPECT_TRUE(value.ok()) << value.error().message;
  return value ? *value : TensorValue{};
}

std::string refusal(const std::string& record) {
  const auto value = read_tensor_record(record);
  return value ? "read" : value.error().message;
}

template <class T, class Values>
void expect_content(int type, const std::string& dtype, const std::vector<T>& stored,
                    const Values& values) {
  const TensorValue value = read(
      with_content(tensor(type, {1, static_cast<std::int64_t>(values.size())}), bytes_of(stored)));
  EXPECT_EQ(value.dtype, dtype);
  EXPECT_EQ(value.shape, (Integers{1, static_cast<std::int64_t>(values.size())}));
  EXPECT_EQ(std::get<Values>(value.values), values) << dtype;
}

TEST(TensorValue, AllTypesAsContent) {
  expect_content<float>(1, "float32", {0.5F, -3.25F}, Doubles{0.5, -3.25});
  expect_content<double>(2, "float64", {0.1, 1e300}, Doubles{0.1, 1e300});
  expect_content<std::int32_t>(3, "int32", {-7, 2147483647}, Integers{-7, 2147483647});
  expect_content<std::uint8_t>(4, "uint8", {0, 255}, Integers{0, 255});
  expect_content<std::int16_t>(5, "int16", {-32768, 5}, Integers{-32768, 5});
  expect_content<std::int8_t>(6, "int8", {-128, 127}, Integers{-128, 127});
  expect_content<std::int64_t>(9, "int64", {INT64_MIN, 1}, Integers{INT64_MIN, 1});
  expect_content<std::uint8_t>(10, "bool", {0, 1, 2}, Integers{0, 1, 1});
  expect_content<std::uint16_t>(17, "uint16", {65535, 0}, Integers{65535, 0});
  expect_content<std::uint32_t>(22, "uint32", {4294967295U}, Naturals{4294967295U});
  expect_content<std::uint64_t>(23, "uint64", {UINT64_MAX}, Naturals{UINT64_MAX});
}

// Bits and values by hand: 1, -2, the largest, the smallest subnormal, minus infinity.
TEST(TensorValue, HalfPrecision) {
  const double infinity = std::numeric_limits<double>::infinity();
  expect_content<std::uint16_t>(19, "float16", {0x3c00, 0xc000, 0x7bff, 1, 0xfc00},
                                Doubles{1, -2, 65504, std::ldexp(1, -24), -infinity});
  expect_content<std::uint16_t>(14, "bfloat16", {0x3f80, 0xc000, 0x7f80, 0x4049},
                                Doubles{1, -2, infinity, 3.140625});
  const TensorValue nan =
      read(with_content(tensor(19, {1}), bytes_of(std::vector<std::uint16_t>{0x7e00})));
  EXPECT_TRUE(std::isnan(std::get<Doubles>(nan.values).front()));
}

TEST(TensorValue, ComplexNumbers) {
  const TensorValue narrow =
      read(with_content(tensor(8, {2}), bytes_of(std::vector<float>{1, 2, 3, -4})));
  EXPECT_EQ(narrow.dtype, "complex64");
  EXPECT_EQ(std::get<Doubles>(narrow.values), (Doubles{1, 3}));
  EXPECT_EQ(narrow.imaginary, (Doubles{2, -4}));
  const TensorValue wide =
      read(with_content(tensor(18, {1}), bytes_of(std::vector<double>{0.1, 0.2})));
  EXPECT_EQ(wide.dtype, "complex128");
  EXPECT_EQ(std::get<Doubles>(wide.values), Doubles{0.1});
  EXPECT_EQ(wide.imaginary, Doubles{0.2});
}

TEST(TensorValue, FieldsPackedAndUnpacked) {
  for (const bool packed : {false, true}) {
    std::string reals = tensor(1, {2});
    std::string integers = tensor(9, {2});
    std::string halves = tensor(19, {2});
    if (packed) {
      const std::vector<float> floats = {1.5F, -2};
      const std::vector<std::int64_t> numbers = {-1, INT64_MAX};
      const std::vector<std::int32_t> bits = {0x3c00, 0xc000};
      protozero::pbf_writer{reals}.add_packed_float(5, floats.begin(), floats.end());
      protozero::pbf_writer{integers}.add_packed_int64(10, numbers.begin(), numbers.end());
      protozero::pbf_writer{halves}.add_packed_int32(13, bits.begin(), bits.end());
    } else {
      protozero::pbf_writer{reals}.add_float(5, 1.5F);
      protozero::pbf_writer{reals}.add_float(5, -2);
      protozero::pbf_writer{integers}.add_int64(10, -1);
      protozero::pbf_writer{integers}.add_int64(10, INT64_MAX);
      protozero::pbf_writer{halves}.add_int32(13, 0x3c00);
      protozero::pbf_writer{halves}.add_int32(13, 0xc000);
    }
    EXPECT_EQ(std::get<Doubles>(read(reals).values), (Doubles{1.5, -2}));
    EXPECT_EQ(std::get<Integers>(read(integers).values), (Integers{-1, INT64_MAX}));
    EXPECT_EQ(std::get<Doubles>(read(halves).values), (Doubles{1, -2}));
  }
}

TEST(TensorValue, Strings) {
  std::string proto = tensor(0, {2});  // SageMaker Debugger leaves the type at 0
  protozero::pbf_writer{proto}.add_string(8, "a");
  protozero::pbf_writer{proto}.add_string(8,
                                          "d\xc3\xa9"
                                          "f");
  const TensorValue value = read(proto);
  EXPECT_EQ(value.dtype, "<U3");
  EXPECT_EQ(std::get<Strings>(value.values), (Strings{"a",
                                                      "d\xc3\xa9"
                                                      "f"}));
}

TEST(TensorValue, AnEmptyTensorIsNoMistake) {
  const TensorValue value = read(tensor(1, {0, 4}));
  EXPECT_EQ(value.shape, (Integers{0, 4}));
  EXPECT_TRUE(std::get<Doubles>(value.values).empty());
}

TEST(TensorValue, TensorFlowLeavesOutAValueThatRepeats) {
  std::string proto = tensor(1, {2, 2});
  protozero::pbf_writer{proto}.add_float(5, 7);
  EXPECT_EQ(std::get<Doubles>(read(proto).values), (Doubles{7, 7, 7, 7}));
}

TEST(TensorValue, EitherChecksumOfThePayload) {
  const std::string proto = with_content(tensor(1, {1}), bytes_of(std::vector<float>{4}));
  EXPECT_EQ(std::get<Doubles>(read(proto, Checksum::own).values), Doubles{4});
  EXPECT_EQ(std::get<Doubles>(read(proto, Checksum::constant).values), Doubles{4});
}

TEST(TensorValue, RefusesWhatIsWrong) {
  const std::string proto = with_content(tensor(1, {1}), bytes_of(std::vector<float>{4}));
  const std::string good = frame(event(proto));
  EXPECT_EQ(refusal(good), "read");
  std::string damaged = good;
  damaged[20] ^= 1;
  EXPECT_EQ(refusal(damaged), "wrong checksum of the payload");
  damaged = good;
  damaged[0] ^= 1;
  EXPECT_EQ(refusal(damaged), "wrong checksum of the length");
  EXPECT_EQ(refusal(good + "x"), "the record is not as long as the index says");
  EXPECT_EQ(refusal(frame(event(tensor(99, {1})))), "data type 99 is unknown");
  EXPECT_EQ(refusal(frame(event(tensor(1, {-1})))), "a negative dimension");
  EXPECT_EQ(refusal(frame(event(tensor(1, {3})))), "the shape has 3 elements, the tensor 0");
  EXPECT_EQ(refusal(frame(event(tensor(1, {INT64_MAX, 4})))), "a shape of too many elements");
  EXPECT_EQ(refusal(frame(event(with_content(tensor(1, {1}), "abc")))),
            "tensor_content is no whole number of elements");
  EXPECT_EQ(refusal(frame("")), "no tensor in the record");
}

// With the constant checksum nothing protects the payload: any bytes are read or refused.
TEST(TensorValue, AnyTruncationAndAnyByteIsSurvived) {
  const std::string payload =
      event(with_content(tensor(1, {2}), bytes_of(std::vector<float>{4, 5})));
  for (std::size_t size = 0; size < payload.size(); ++size) {
    static_cast<void>(refusal(frame(payload.substr(0, size), Checksum::constant)));
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = payload;
      flipped[size] = static_cast<char>(flipped[size] ^ (1 << bit));
      static_cast<void>(refusal(frame(flipped, Checksum::constant)));
    }
  }
  const std::string record = frame(payload);
  for (std::size_t size = 0; size < record.size(); ++size)
    EXPECT_NE(refusal(record.substr(0, size)), "read");
}

}  // namespace tensor_value_test
}  // namespace trainwatch
