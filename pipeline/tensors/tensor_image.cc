// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/tensor_image.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace trainwatch {
namespace {

// The palette: greys, and what is no finite number.
constexpr unsigned kLightest = 252;
constexpr unsigned char kBlue = 253;    // minus infinity
constexpr unsigned char kOrange = 254;  // infinity
constexpr unsigned char kRed = 255;     // NaN

std::string big_endian(std::uint32_t number) {
  const auto bytes = std::bit_cast<std::array<char, 4>>(__builtin_bswap32(number));
  return {bytes.data(), bytes.size()};
}

void append_chunk(std::string& out, std::string_view type, std::string_view data) {
  const std::size_t begin = out.size() + 4;
  out += big_endian(static_cast<std::uint32_t>(data.size()));
  out += type;
  out += data;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(out.data() + begin);
  out += big_endian(static_cast<std::uint32_t>(crc32_z(0, bytes, out.size() - begin)));
}

std::string palette() {
  std::string colours;
  for (unsigned index = 0; index <= kLightest; ++index)
    colours.append(3, static_cast<char>(index * 255 / kLightest));
  colours += std::string_view{"\x20\x50\xff\xff\x90\x00\xff\x00\x00", 9};
  return colours;
}

// Numbers to places in the palette.
class Greys {
 public:
  void see(double number) {
    if (!std::isfinite(number)) return;
    least_ = std::min(least_, number);
    most_ = std::max(most_, number);
  }
  unsigned char grey(double number) const {
    if (std::isnan(number)) return kRed;
    if (std::isinf(number)) return number > 0 ? kOrange : kBlue;
    if (most_ <= least_) return kLightest / 2;
    // Halves, as the span of doubles may be no double.
    const double part = (number / 2 - least_ / 2) / (most_ / 2 - least_ / 2);
    return static_cast<unsigned char>(std::lround(part * kLightest));
  }

 private:
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

// The rows, each with its filter (0: none) before it.
template <class T>
std::string pixels(const std::vector<T>& values, std::size_t width) {
  Greys greys;
  for (const T number : values) greys.see(static_cast<double>(number));
  std::string rows;
  rows.reserve(values.size() + values.size() / width);
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (at % width == 0) rows += '\0';
    rows += static_cast<char>(greys.grey(static_cast<double>(values[at])));
  }
  return rows;
}

Result<std::string> compressed(const std::string& data) {
  uLongf size = compressBound(static_cast<uLong>(data.size()));
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                reinterpret_cast<const Bytef*>(data.data()), static_cast<uLong>(data.size()),
                Z_BEST_SPEED) != Z_OK)
    return Error{"no memory for the picture"};
  out.resize(size);
  return out;
}

}  // namespace

Result<std::string> to_png(const TensorValue& value) {
  if (std::holds_alternative<std::vector<std::string>>(value.values) || !value.imaginary.empty())
    return Error{"a picture needs real numbers"};
  if (value.shape.empty() || value.shape.size() > 2) {
    return Error{"a picture needs one or two dimensions; of " + std::to_string(value.shape.size()) +
                 " choose some with a slice"};
  }
  const auto width = static_cast<std::size_t>(value.shape.back());
  const auto height =
      value.shape.size() == 1 ? std::size_t{1} : static_cast<std::size_t>(value.shape.front());
  if (width == 0 || height == 0) return Error{"a picture of nothing"};
  if (width > kMostPixels / height) return Error{"too large for a picture; choose a slice"};
  const std::string rows = std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_arithmetic_v<T>) return pixels(values, width);
        return std::string{};
      },
      value.values);
  const auto data = compressed(rows);
  if (!data) return data.error();
  std::string out{"\x89PNG\r\n\x1a\n", 8};
  append_chunk(out, "IHDR",
               big_endian(static_cast<std::uint32_t>(width)) +
                   big_endian(static_cast<std::uint32_t>(height)) +
                   std::string{"\x08\x03\x00\x00\x00", 5});
  append_chunk(out, "PLTE", palette());
  append_chunk(out, "IDAT", *data);
  append_chunk(out, "IEND", {});
  return out;
}

}  // namespace trainwatch
