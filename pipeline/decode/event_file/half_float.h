// SPDX-License-Identifier: Apache-2.0
// The two floating-point numbers of 16 bits that tensors have.
#pragma once

#include <bit>
#include <cstdint>

namespace trainwatch {

// The upper half of a float32.
inline float of_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}

// IEEE 754 binary16: 5 bits of exponent, 10 of fraction.
inline float of_half(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16U;
  const std::uint32_t exponent = (bits >> 10U) & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {  // the fraction counts 2^-24
    const float small = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -small : small;
  }
  const std::uint32_t wide = exponent == 0x1F ? 0xFFU : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23U | fraction << 13U);
}

}  // namespace trainwatch
