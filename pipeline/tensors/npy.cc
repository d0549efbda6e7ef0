// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace trainwatch {
namespace {

constexpr std::size_t kMostHeaderBytes = 65535;  // version 1.0
constexpr std::size_t kAlignment = 64;

template <class T>
void append(std::string& out, T number) {
  static_assert(std::endian::native == std::endian::little);
  const auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(number);
  out.append(bytes.data(), bytes.size());
}

// Of a number that float16 has, or NaN.
std::uint16_t half_bits(double number) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(number) ? 0x8000 : 0);
  const double magnitude = std::abs(number);
  const auto with_sign = [&](int bits) { return static_cast<std::uint16_t>(sign | bits); };
  if (std::isnan(number)) return with_sign(0x7e00);
  if (std::isinf(number)) return with_sign(0x7c00);
  constexpr double kSmallestNormal = 0x1p-14;
  if (magnitude < kSmallestNormal) return with_sign(static_cast<int>(std::ldexp(magnitude, 24)));
  const int exponent = std::ilogb(magnitude);
  const int fraction = static_cast<int>(std::ldexp(magnitude, 10 - exponent)) - 1024;
  return with_sign(((exponent + 15) << 10) | fraction);
}

struct Element {
  std::string_view dtype;
  std::string_view description;  // numpy's
  std::size_t bytes;
  void (*append)(std::string& out, double number);  // of those that are kept as doubles
};

template <class T>
void append_as(std::string& out, double number) {
  append(out, static_cast<T>(number));
}
void append_half(std::string& out, double number) {
  append(out, half_bits(number));
}

constexpr std::array kElements = {Element{"float32", "<f4", 4, append_as<float>},
                                  Element{"float64", "<f8", 8, append_as<double>},
                                  Element{"float16", "<f2", 2, append_half},
                                  Element{"bfloat16", "<f4", 4, append_as<float>},
                                  Element{"complex64", "<c8", 8, append_as<float>},
                                  Element{"complex128", "<c16", 16, append_as<double>},
                                  Element{"bool", "|b1", 1, nullptr},
                                  Element{"int8", "|i1", 1, nullptr},
                                  Element{"int16", "<i2", 2, nullptr},
                                  Element{"int32", "<i4", 4, nullptr},
                                  Element{"int64", "<i8", 8, nullptr},
                                  Element{"uint8", "|u1", 1, nullptr},
                                  Element{"uint16", "<u2", 2, nullptr},
                                  Element{"uint32", "<u4", 4, nullptr},
                                  Element{"uint64", "<u8", 8, nullptr}};

const Element* element_of(const TensorValue& value) {
  const auto* const found = std::ranges::find(kElements, value.dtype, &Element::dtype);
  return found == kElements.end() ? nullptr : found;
}

// Code points of an element of `<U3`: 3.
std::size_t text_width(std::string_view dtype) {
  std::size_t width = 0;
  if (dtype.starts_with("<U"))
    std::from_chars(dtype.data() + 2, dtype.data() + dtype.size(), width);
  return width;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (const std::int64_t size : shape) text += std::to_string(size) + ", ";
  if (shape.size() > 1) text.resize(text.size() - 2);
  if (shape.size() == 1) text.pop_back();
  return text + ')';
}

Status append_header(std::string& out, std::string_view description,
                     const std::vector<std::int64_t>& shape) {
  constexpr std::string_view kMagic{"\x93NUMPY\x01\x00", 8};
  std::string header = "{'descr': '" + std::string{description} +
                       "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  const std::size_t before = kMagic.size() + 2;
  const std::size_t whole = (before + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  header.resize(whole - before - 1, ' ');
  header += '\n';
  if (header.size() > kMostHeaderBytes) return Error{"too many dimensions for a .npy file"};
  out += kMagic;
  append(out, static_cast<std::uint16_t>(header.size()));
  out += header;
  return success();
}

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

// One code point and what follows it; U+FFFD for what is none.
std::uint32_t take_code_point(std::string_view& text) {
  constexpr std::uint32_t kReplacement = 0xfffd;
  const auto lead = static_cast<unsigned char>(text.front());
  const auto length = static_cast<std::size_t>(
      std::find_if_not(text.begin() + 1, text.end(), continues) - text.begin());
  const std::string_view rest = text.substr(1, length - 1);
  text.remove_prefix(length);
  if (lead < 0x80) return rest.empty() ? lead : kReplacement;
  const int leading = std::countl_one(lead);
  if (leading < 2 || leading > 4 || rest.size() != static_cast<std::size_t>(leading) - 1)
    return kReplacement;
  std::uint32_t point = lead & (0x7fU >> static_cast<unsigned>(leading));
  for (const char c : rest) point = (point << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return surrogate || point > 0x10ffff ? kReplacement : point;
}

void append_text(std::string& out, std::string_view text, std::size_t width) {
  text.remove_prefix(static_cast<std::size_t>(
      std::find_if_not(text.begin(), text.end(), continues) - text.begin()));
  for (std::size_t at = 0; at < width; ++at)
    append(out, text.empty() ? std::uint32_t{0} : take_code_point(text));
}

template <class T>
void append_values(std::string& out, const TensorValue& value, const std::vector<T>& values,
                   std::size_t bytes) {
  if constexpr (std::is_same_v<T, std::string>) {
    for (const std::string& text : values) append_text(out, text, bytes / sizeof(std::uint32_t));
  } else if constexpr (std::is_same_v<T, double>) {
    const auto append_number = element_of(value)->append;
    for (std::size_t at = 0; at < values.size(); ++at) {
      append_number(out, values[at]);
      if (!value.imaginary.empty()) append_number(out, value.imaginary[at]);
    }
  } else {
    for (const T number : values) {
      const auto whole = std::bit_cast<std::array<char, sizeof(T)>>(number);
      out.append(whole.data(), bytes);  // the low ones
    }
  }
}

}  // namespace

std::size_t npy_element_bytes(const TensorValue& value) {
  const Element* const element = element_of(value);
  return element == nullptr ? text_width(value.dtype) * sizeof(std::uint32_t) : element->bytes;
}

Result<std::string> to_npy(const TensorValue& value) {
  const Element* const element = element_of(value);
  const std::size_t bytes = npy_element_bytes(value);
  const bool kept_as_doubles = std::holds_alternative<std::vector<double>>(value.values);
  if (bytes == 0 || (kept_as_doubles && (element == nullptr || element->append == nullptr)))
    return Error{"numpy has no type for " + value.dtype};
  std::string out;
  if (const Status header = append_header(
          out, element == nullptr ? std::string_view{value.dtype} : element->description,
          value.shape);
      !header)
    return header.error();
  std::visit(
      [&](const auto& values) {
        out.reserve(out.size() + values.size() * bytes);
        append_values(out, value, values, bytes);
      },
      value.values);
  return out;
}

}  // namespace trainwatch
