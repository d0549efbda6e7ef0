// SPDX-License-Identifier: Apache-2.0
// Slices, .npy files and pictures of tensors.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>

#include "pipeline/tensors/npy.h"
#include "pipeline/tensors/tensor_image.h"
#include "pipeline/tensors/tensor_slice.h"

namespace trainwatch {
namespace tensor_files_test {

using Doubles = std::vector<double>;
using Integers = std::vector<std::int64_t>;
using Strings = std::vector<std::string>;

TensorValue numbers(Integers shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  Integers values;
  for (std::int64_t at = 0; at < count; ++at) values.push_back(at);
  return {"int32", std::move(shape), std::move(values), {}};
}

void expect_slice(const std::string& slice, const Integers& shape, const Integers& values) {
  const auto part = slice_tensor(numbers({2, 3, 4}), slice);
  ASSERT_TRUE(part.ok()) << slice << ": " << part.error().message;
  EXPECT_EQ(part->shape, shape) << slice;
  EXPECT_EQ(std::get<Integers>(part->values), values) << slice;
}

// By numpy: numpy.arange(24).reshape(2, 3, 4)[...].
TEST(TensorSlice, IsWhatPythonTakes) {
  expect_slice("1", {3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
  expect_slice("-1,-1", {4}, {20, 21, 22, 23});
  expect_slice(":,0,1:3", {2, 2}, {1, 2, 13, 14});
  expect_slice("0,2,3", {}, {11});
  expect_slice("0,:,-1", {3}, {3, 7, 11});
  expect_slice("0,-2:,:1", {2, 1}, {4, 8});
  expect_slice("0,1,2:100", {2}, {6, 7});
  expect_slice("0,2:1", {0, 4}, {});
}

TEST(TensorSlice, RefusesWhatIsNone) {
  for (const char* wrong : {"x", "1,,2", "0:1:2", "99999999999999999999", "1.5", "0x1", " 1"})
    EXPECT_FALSE(slice_tensor(numbers({2, 3}), wrong).ok()) << wrong;
  for (const char* outside : {"2", "-3", "0,3"})
    EXPECT_FALSE(slice_tensor(numbers({2, 3}), outside).ok()) << outside;
  EXPECT_EQ(slice_tensor(numbers({2}), "0,0").error().message,
            "the slice has more dimensions than the tensor");
}

TEST(TensorSlice, OfComplexNumbersBothParts) {
  const auto part = slice_tensor({"complex64", {3}, Doubles{1, 2, 3}, {4, 5, 6}}, "1:");
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(std::get<Doubles>(part->values), (Doubles{2, 3}));
  EXPECT_EQ(part->imaginary, (Doubles{5, 6}));
}

std::string npy(const TensorValue& value) {
  const auto bytes = to_npy(value);
  EXPECT_TRUE(bytes.ok()) << bytes.error().message;
  return bytes ? *bytes : "";
}

// The header as numpy.save() writes it but for the spaces, and the bytes of ndarray.tobytes().
// tests/e2e/tensors_test.py lets numpy read every type.
TEST(Npy, HeaderAndElements) {
  const std::string file = npy({"int16", {2, 1}, Integers{-2, 258}, {}});
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ((file.size() - 4) % 64, 0U);
  const std::string dict = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1), }";
  EXPECT_EQ(file.substr(10, dict.size()), dict);
  EXPECT_EQ(file.substr(file.size() - 5), "\n" + std::string("\xfe\xff\x02\x01", 4));
  EXPECT_NE(npy(numbers({3})).find("'shape': (3,), }"), std::string::npos);
  EXPECT_NE(npy({"float32", {}, Doubles{1}, {}}).find("'shape': (), }"), std::string::npos);
}

std::string last(const std::string& file, std::size_t bytes) {
  return file.substr(file.size() - bytes);
}

TEST(Npy, NumbersThatAreKeptAsDoubles) {
  EXPECT_EQ(last(npy({"float32", {1}, Doubles{1}, {}}), 4), std::string("\x00\x00\x80\x3f", 4));
  EXPECT_EQ(last(npy({"bfloat16", {1}, Doubles{-2}, {}}), 4), std::string("\x00\x00\x00\xc0", 4));
  EXPECT_EQ(last(npy({"complex64", {1}, Doubles{1}, {-2}}), 8),
            std::string("\x00\x00\x80\x3f\x00\x00\x00\xc0", 8));
  const double infinity = std::numeric_limits<double>::infinity();
  // Bits by hand: 1, the largest, the smallest normal and subnormal, -0, -infinity.
  EXPECT_EQ(last(npy({"float16",
                      {6},
                      Doubles{1, 65504, std::ldexp(1, -14), std::ldexp(1, -24), -0.0, -infinity},
                      {}}),
                 12),
            std::string("\x00\x3c\xff\x7b\x00\x04\x01\x00\x00\x80\x00\xfc", 12));
}

TEST(Npy, StringsAsCodePoints) {
  const std::string file = npy({"<U2", {3}, Strings{"\xc3\xa9z", "", "\xf0\x9f\x98\x80"}, {}});
  EXPECT_EQ(
      last(file, 24),
      std::string("\xe9\x00\x00\x00z\x00\x00\x00\0\0\0\0\0\0\0\0\x00\xf6\x01\x00\0\0\0\0", 24));
  // What is not UTF-8 takes no more room than was counted for it.
  EXPECT_EQ(last(npy({"<U1", {1}, Strings{"\xff"}, {}}), 4), std::string("\xfd\xff\x00\x00", 4));
  EXPECT_EQ(last(npy({"<U1", {1}, Strings{"\x80\x80"}, {}}), 4), std::string(4, '\0'));
}

TEST(Npy, RefusesWhatItCannotSay) {
  EXPECT_FALSE(to_npy({"", {1}, Doubles{1}, {}}).ok());
  EXPECT_FALSE(to_npy({"int8", {1}, Doubles{1}, {}}).ok());
  EXPECT_EQ(to_npy(numbers(Integers(40000, 1))).error().message,
            "too many dimensions for a .npy file");
}

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8U | static_cast<unsigned char>(bytes.at(at + i));
  return number;
}

// The chunks of a PNG by type; their checksums are right.
std::map<std::string, std::string> chunks(const std::string& png) {
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::map<std::string, std::string> found;
  for (std::size_t at = 8; at < png.size();) {
    const std::size_t size = number_at(png, at);
    const std::string with_type = png.substr(at + 4, 4 + size);
    EXPECT_EQ(number_at(png, at + 8 + size),
              crc32(0, reinterpret_cast<const Bytef*>(with_type.data()),
                    static_cast<uInt>(with_type.size())));
    found[with_type.substr(0, 4)] = with_type.substr(4);
    at += 12 + size;
  }
  return found;
}

// The rows, each as the number of its filter and the places in the palette.
std::vector<std::vector<int>> rows(const std::string& png) {
  const auto parts = chunks(png);
  const std::uint32_t width = number_at(parts.at("IHDR"), 0);
  const std::uint32_t height = number_at(parts.at("IHDR"), 4);
  std::string data((width + 1) * height, '\0');
  uLongf size = data.size();
  const std::string& packed = parts.at("IDAT");
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(data.data()), &size,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  EXPECT_EQ(size, data.size());
  std::vector<std::vector<int>> result;
  for (std::size_t row = 0; row < height; ++row) {
    const std::string line = data.substr(row * (width + 1), width + 1);
    result.emplace_back();
    for (const char c : line) result.back().push_back(static_cast<unsigned char>(c));
  }
  return result;
}

using Rows = std::vector<std::vector<int>>;

TEST(TensorImage, IsGreyFromTheLeastToTheMost) {
  const auto png = to_png({"float32", {2, 2}, Doubles{-1, 0, 0.5, 1}, {}});
  ASSERT_TRUE(png.ok());
  EXPECT_EQ(rows(*png), (Rows{{0, 0, 126}, {0, 189, 252}}));
  const std::string colours = chunks(*png).at("PLTE");
  ASSERT_EQ(colours.size(), 768U);
  EXPECT_EQ(colours.substr(0, 3), std::string(3, '\0'));
  EXPECT_EQ(colours.substr(252 * 3, 3), "\xff\xff\xff");
  EXPECT_EQ(colours.substr(255 * 3, 3), std::string("\xff\x00\x00", 3));
}

TEST(TensorImage, MarksWhatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto png = to_png({"float32", {5}, Doubles{1, std::nan(""), infinity, -infinity, 2}, {}});
  ASSERT_TRUE(png.ok());
  EXPECT_EQ(rows(*png), (Rows{{0, 0, 255, 254, 253, 252}}));
}

TEST(TensorImage, OfOneValueAndOfExtremes) {
  EXPECT_EQ(rows(*to_png({"uint64", {1, 2}, std::vector<std::uint64_t>{7, 7}, {}})),
            (Rows{{0, 126, 126}}));
  EXPECT_EQ(rows(*to_png({"float64", {3}, Doubles{-1.7e308, 0, 1.7e308}, {}})),
            (Rows{{0, 0, 126, 252}}));
}

TEST(TensorImage, RefusesWhatIsNoPicture) {
  EXPECT_FALSE(to_png(numbers({2, 2, 2})).ok());
  EXPECT_FALSE(to_png({"int32", {}, Integers{1}, {}}).ok());
  EXPECT_FALSE(to_png(numbers({0, 3})).ok());
  EXPECT_FALSE(to_png({"<U1", {1}, Strings{"a"}, {}}).ok());
  EXPECT_FALSE(to_png({"complex64", {1}, Doubles{1}, {2}}).ok());
  EXPECT_EQ(to_png({"int32", {1 << 13, (1 << 11) + 1}, Integers{}, {}}).error().message,
            "too large for a picture; choose a slice");
}

}  // namespace tensor_files_test
}  // namespace trainwatch
