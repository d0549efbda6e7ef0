// SPDX-License-Identifier: Apache-2.0
// The types of a tensor's elements, as TensorFlow numbers them (types.proto), and what a number of
// each looks like in little-endian bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "pipeline/decode/event_file/half_float.h"

namespace trainwatch {

// Of TensorProto.dtype. Others are texts, complex numbers and handles: no real numbers.
enum class ElementType : std::int32_t {
  none = 0,
  float32 = 1,
  float64 = 2,
  int32 = 3,
  uint8 = 4,
  int16 = 5,
  int8 = 6,
  int64 = 9,
  boolean = 10,
  bfloat16 = 14,
  uint16 = 17,
  float16 = 19,
  uint32 = 22,
  uint64 = 23,
};

// `StoredNumber` is what the bytes are; `Number` is float where that is exact, otherwise double:
// integers of more than 53 bits are rounded.
template <class StoredNumber, class PlainNumber>
struct PlainElement {
  using Stored = StoredNumber;
  using Number = PlainNumber;
  static Number number(Stored stored) { return static_cast<Number>(stored); }
};
struct BooleanElement {
  using Stored = std::uint8_t;
  using Number = float;
  static Number number(Stored stored) { return stored != 0 ? 1 : 0; }
};
struct HalfElement {
  using Stored = std::uint16_t;
  using Number = float;
  static Number number(Stored stored) { return of_half(stored); }
};
struct Bfloat16Element {
  using Stored = std::uint16_t;
  using Number = float;
  static Number number(Stored stored) { return of_bfloat16(stored); }
};

template <class Element>
typename Element::Number read_element(const char* at) {
  typename Element::Stored stored;
  std::memcpy(&stored, at, sizeof stored);
  return Element::number(stored);
}

// Calls `use` with an object of the type's element; false: it has no real numbers.
template <class Use>
bool with_element(ElementType type, Use&& use) {
  switch (type) {
    case ElementType::float32:
      use(PlainElement<float, float>{});
      return true;
    case ElementType::float64:
      use(PlainElement<double, double>{});
      return true;
    case ElementType::int8:
      use(PlainElement<std::int8_t, float>{});
      return true;
    case ElementType::int16:
      use(PlainElement<std::int16_t, float>{});
      return true;
    case ElementType::int32:
      use(PlainElement<std::int32_t, double>{});
      return true;
    case ElementType::int64:
      use(PlainElement<std::int64_t, double>{});
      return true;
    case ElementType::uint8:
      use(PlainElement<std::uint8_t, float>{});
      return true;
    case ElementType::uint16:
      use(PlainElement<std::uint16_t, float>{});
      return true;
    case ElementType::uint32:
      use(PlainElement<std::uint32_t, double>{});
      return true;
    case ElementType::uint64:
      use(PlainElement<std::uint64_t, double>{});
      return true;
    case ElementType::boolean:
      use(BooleanElement{});
      return true;
    case ElementType::float16:
      use(HalfElement{});
      return true;
    case ElementType::bfloat16:
      use(Bfloat16Element{});
      return true;
    case ElementType::none:
      break;
  }
  return false;
}

// 0: it has no real numbers.
inline std::size_t element_size(ElementType type) {
  std::size_t size = 0;
  with_element(type, [&size](auto element) { size = sizeof(typename decltype(element)::Stored); });
  return size;
}

}  // namespace trainwatch
