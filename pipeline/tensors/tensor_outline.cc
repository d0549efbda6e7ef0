// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/tensor_outline.h"

#include <algorithm>
#include <string>

#include "pipeline/tensors/tensor_value.h"

namespace trainwatch {
namespace {

constexpr std::size_t kRecordHeader = 12;
// Of a list of values that grows: the old one and twice as much are there at once.
constexpr std::uint64_t kGrown = 3 * sizeof(std::uint64_t);
constexpr std::uint64_t kText = 3 * sizeof(std::string) + 32;  // beside its bytes, likewise
// The fill of fill_shape().
constexpr std::uint64_t kMostFilled = std::uint64_t{1} << 24U;

struct WireField {
  std::uint64_t number = 0;
  std::uint64_t varint = 0;  // of wire type 0
  std::string_view bytes{};  // of a length-delimited field; less than `length` if they end early
  std::uint64_t length = 0;
  bool delimited = false;
};

std::optional<std::uint64_t> take_varint(std::string_view& rest) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest.empty()) return std::nullopt;
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

// The next field of a message of which the end may be missing.
std::optional<WireField> take_field(std::string_view& rest) {
  const auto tag = take_varint(rest);
  if (!tag) return std::nullopt;
  WireField field;
  field.number = *tag >> 3U;
  const auto skip = [&](std::size_t bytes) { rest.remove_prefix(std::min(bytes, rest.size())); };
  switch (*tag & 7U) {
    case 0: {
      const auto value = take_varint(rest);
      if (!value) return std::nullopt;
      field.varint = *value;
      return field;
    }
    case 1:
      skip(8);
      return field;
    case 2: {
      const auto length = take_varint(rest);
      if (!length) return std::nullopt;
      field.delimited = true;
      field.length = *length;
      field.bytes =
          rest.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(*length, rest.size())));
      skip(field.bytes.size());
      return field;
    }
    case 5:
      skip(4);
      return field;
    default:
      return std::nullopt;
  }
}

// The first message of this number.
std::optional<std::string_view> message(std::string_view rest, std::uint64_t number) {
  while (const auto field = take_field(rest)) {
    if (field->delimited && field->number == number) return field->bytes;
  }
  return std::nullopt;
}

std::vector<std::int64_t> outline_shape(std::string_view rest) {
  std::vector<std::int64_t> shape;
  while (const auto dimension = take_field(rest)) {
    if (!dimension->delimited || dimension->number != 2) continue;
    std::string_view inner = dimension->bytes;
    std::int64_t size = 0;
    while (const auto field = take_field(inner)) {
      if (!field->delimited && field->number == 1) size = static_cast<std::int64_t>(field->varint);
    }
    shape.push_back(size);
  }
  return shape;
}

// Of the values in a field that is no tensor_content.
std::uint64_t decoded_field(const WireField& field) {
  if (!field.delimited) return kGrown;
  switch (field.number) {
    case 5:
    case 9:
      return field.length / 4 * kGrown;
    case 6:
    case 12:
      return field.length / 8 * kGrown;
    case 8:
      return kText + 2 * field.length;
    default:
      return field.length * kGrown;  // varints of one byte
  }
}

// Elements; nullopt for a shape that is refused.
std::optional<std::uint64_t> elements_of(const std::vector<std::int64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(size), &count))
      return std::nullopt;
  }
  return count;
}

// Of a complex number a pair in a list, and two parts in lists that grow.
std::uint64_t decoded_element(int type) {
  constexpr int kComplex64Type = 8;
  constexpr int kComplex128Type = 18;
  const bool complex = type == kComplex64Type || type == kComplex128Type;
  return complex ? 2 * sizeof(double) + 2 * kGrown : sizeof(double);
}

}  // namespace

std::optional<TensorOutline> outline_tensor(std::string_view record) {
  if (record.size() <= kRecordHeader) return std::nullopt;
  const auto summary = message(record.substr(kRecordHeader), 5);
  const auto value = summary ? message(*summary, 1) : std::nullopt;
  auto rest = value ? message(*value, 8) : std::nullopt;
  if (!rest) return std::nullopt;
  TensorOutline outline;
  std::uint64_t content = 0;
  std::uint64_t longest = 0;  // of strings
  while (const auto field = take_field(*rest)) {
    if (field->number == 1 && !field->delimited) {
      outline.type = static_cast<int>(field->varint);
    } else if (field->number == 2 && field->delimited) {
      outline.shape = outline_shape(field->bytes);
      outline.decoded_bytes += field->length * kGrown;
    } else if (field->number == 4 && field->delimited) {
      content = field->length;
    } else {
      outline.decoded_bytes += decoded_field(*field);
      if (field->number == 8) longest = std::max(longest, field->length);
    }
  }
  const std::size_t each = stored_element_bytes(outline.type);
  const std::uint64_t stored = each > 0 ? content / each : 0;
  outline.decoded_bytes += stored * decoded_element(outline.type);
  const auto count = outline.shape ? elements_of(*outline.shape) : std::nullopt;
  if (count && *count != stored && *count <= kMostFilled)  // a last value may repeat
    outline.decoded_bytes += *count * (longest > 0 ? kText + longest : 2 * sizeof(double));
  return outline;
}

}  // namespace trainwatch
