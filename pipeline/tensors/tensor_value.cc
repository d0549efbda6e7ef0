// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/tensor_value.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <utility>

#include "pipeline/decode/event_file/half_float.h"
#include "pipeline/decode/event_file/record_file.h"
#include "pipeline/decode/event_file/tensor_fields.h"

namespace trainwatch {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// Elements of a tensor that is one value repeated.
constexpr std::uint64_t kMaxRepeated = std::uint64_t{1} << 24U;

template <class T>
T load(const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Numbers of TensorProto's enumeration DataType.
enum : int {
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kUint16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kUint32 = 22,
  kUint64 = 23
};

struct DataType {
  int number;
  const char* name;
  std::size_t bytes;  // of an element in tensor_content; 0: never there
};

constexpr std::array kDataTypes = {DataType{kFloat, "float32", 4},
                                   DataType{kDouble, "float64", 8},
                                   DataType{kInt32, "int32", 4},
                                   DataType{kUint8, "uint8", 1},
                                   DataType{kInt16, "int16", 2},
                                   DataType{kInt8, "int8", 1},
                                   DataType{kString, "string", 0},
                                   DataType{kComplex64, "complex64", 8},
                                   DataType{kInt64, "int64", 8},
                                   DataType{kBool, "bool", 1},
                                   DataType{kBfloat16, "bfloat16", 2},
                                   DataType{kUint16, "uint16", 2},
                                   DataType{kComplex128, "complex128", 16},
                                   DataType{kHalf, "float16", 2},
                                   DataType{kUint32, "uint32", 4},
                                   DataType{kUint64, "uint64", 8}};

const DataType* data_type(int number) {
  const auto* const found =
      std::find_if(kDataTypes.begin(), kDataTypes.end(),
                   [&](const DataType& type) { return type.number == number; });
  return found == kDataTypes.end() ? nullptr : found;
}

// A TensorProto as it is stored: either the bytes of all elements, or values of one of its fields.
struct StoredTensor {
  int type = 0;
  std::optional<std::vector<std::int64_t>> shape;
  std::string_view content;
  std::vector<double> reals;  // complex numbers as pairs
  std::vector<std::int64_t> integers;
  std::vector<std::uint64_t> naturals;
  std::vector<std::string> strings;
};

// A repeated field, packed or not.
template <class To, class Range, class Value>
void append(pbf_reader& from, std::vector<To>& to, Range (pbf_reader::*packed)(),
            Value (pbf_reader::*one)()) {
  if (from.wire_type() != pbf_wire_type::length_delimited) {
    to.push_back(static_cast<To>((from.*one)()));
    return;
  }
  for (const auto value : (from.*packed)()) to.push_back(static_cast<To>(value));
}

std::vector<std::int64_t> read_shape(pbf_reader shape) {
  std::vector<std::int64_t> sizes;
  while (shape.next(tensor_field::dimension, pbf_wire_type::length_delimited)) {
    pbf_reader dimension = shape.get_message();
    sizes.push_back(
        dimension.next(tensor_field::size, pbf_wire_type::varint) ? dimension.get_int64() : 0);
  }
  return sizes;
}

// Whether a field of TensorProto is stored as its type demands; repeated numbers may be packed.
bool has_its_type(const pbf_reader& field) {
  const pbf_wire_type type = field.wire_type();
  switch (field.tag()) {
    case tensor_field::dtype:
      return type == pbf_wire_type::varint;
    case tensor_field::shape:
    case tensor_field::content:
    case tensor_field::texts:
      return type == pbf_wire_type::length_delimited;
    case tensor_field::floats:
    case tensor_field::complex64s:
      return type == pbf_wire_type::fixed32 || type == pbf_wire_type::length_delimited;
    case tensor_field::doubles:
    case tensor_field::complex128s:
      return type == pbf_wire_type::fixed64 || type == pbf_wire_type::length_delimited;
    default:
      return type == pbf_wire_type::varint || type == pbf_wire_type::length_delimited;
  }
}

StoredTensor read_proto(pbf_reader from) {
  StoredTensor tensor;
  while (from.next()) {
    if (!has_its_type(from)) {
      from.skip();
      continue;
    }
    switch (from.tag()) {
      case tensor_field::dtype:
        tensor.type = from.get_enum();
        break;
      case tensor_field::shape:
        tensor.shape = read_shape(from.get_message());
        break;
      case tensor_field::content: {
        const auto bytes = from.get_view();
        tensor.content = {bytes.data(), bytes.size()};
        break;
      }
      case tensor_field::floats:
      case tensor_field::complex64s:
        append(from, tensor.reals, &pbf_reader::get_packed_float, &pbf_reader::get_float);
        break;
      case tensor_field::doubles:
      case tensor_field::complex128s:
        append(from, tensor.reals, &pbf_reader::get_packed_double, &pbf_reader::get_double);
        break;
      case tensor_field::ints:
      case tensor_field::halves:
        append(from, tensor.integers, &pbf_reader::get_packed_int32, &pbf_reader::get_int32);
        break;
      case tensor_field::texts:
        tensor.strings.push_back(from.get_string());
        break;
      case tensor_field::int64s:
        append(from, tensor.integers, &pbf_reader::get_packed_int64, &pbf_reader::get_int64);
        break;
      case tensor_field::booleans:
        append(from, tensor.integers, &pbf_reader::get_packed_bool, &pbf_reader::get_bool);
        break;
      case tensor_field::uint32s:
        append(from, tensor.naturals, &pbf_reader::get_packed_uint32, &pbf_reader::get_uint32);
        break;
      case tensor_field::uint64s:
        append(from, tensor.naturals, &pbf_reader::get_packed_uint64, &pbf_reader::get_uint64);
        break;
      default:
        from.skip();
    }
  }
  return tensor;
}

// The first tensor of an event's summary.
std::optional<StoredTensor> find_tensor(std::string_view payload) {
  pbf_reader event{payload.data(), payload.size()};
  while (event.next(tensor_field::summary, pbf_wire_type::length_delimited)) {
    pbf_reader summary = event.get_message();
    while (summary.next(tensor_field::value, pbf_wire_type::length_delimited)) {
      pbf_reader value = summary.get_message();
      if (value.next(tensor_field::tensor, pbf_wire_type::length_delimited))
        return read_proto(value.get_message());
    }
  }
  return std::nullopt;
}

template <class Stored, class To, class Convert>
void convert_content(std::string_view content, std::vector<To>& to, Convert convert) {
  to.reserve(content.size() / sizeof(Stored));
  for (std::size_t at = 0; at + sizeof(Stored) <= content.size(); at += sizeof(Stored))
    to.push_back(static_cast<To>(convert(load<Stored>(content.data() + at))));
}

constexpr auto kSame = [](auto value) { return value; };

// The elements of tensor_content join those of the fields.
void unpack(StoredTensor& tensor) {
  switch (tensor.type) {
    case kFloat:
    case kComplex64:
      return convert_content<float>(tensor.content, tensor.reals, kSame);
    case kDouble:
    case kComplex128:
      return convert_content<double>(tensor.content, tensor.reals, kSame);
    case kHalf:
      return convert_content<std::uint16_t>(tensor.content, tensor.reals, of_half);
    case kBfloat16:
      return convert_content<std::uint16_t>(tensor.content, tensor.reals, of_bfloat16);
    case kInt8:
      return convert_content<std::int8_t>(tensor.content, tensor.integers, kSame);
    case kInt16:
      return convert_content<std::int16_t>(tensor.content, tensor.integers, kSame);
    case kInt32:
      return convert_content<std::int32_t>(tensor.content, tensor.integers, kSame);
    case kInt64:
      return convert_content<std::int64_t>(tensor.content, tensor.integers, kSame);
    case kUint8:
      return convert_content<std::uint8_t>(tensor.content, tensor.integers, kSame);
    case kUint16:
      return convert_content<std::uint16_t>(tensor.content, tensor.integers, kSame);
    case kBool:
      return convert_content<std::uint8_t>(tensor.content, tensor.integers,
                                           [](std::uint8_t byte) { return byte != 0; });
    case kUint32:
      return convert_content<std::uint32_t>(tensor.content, tensor.naturals, kSame);
    case kUint64:
      return convert_content<std::uint64_t>(tensor.content, tensor.naturals, kSame);
    default:
      return;
  }
}

// half_val has the bits of float16 and bfloat16 as integers.
void decode_halves(StoredTensor& tensor) {
  for (const std::int64_t bits : tensor.integers) {
    const auto half = static_cast<std::uint16_t>(bits);
    tensor.reals.push_back(tensor.type == kHalf ? of_half(half) : of_bfloat16(half));
  }
}

// As many elements as the shape has. TensorFlow leaves out a last value that repeats.
template <class T>
Status fill_shape(std::vector<T>& values, std::vector<std::int64_t>& shape, bool has_shape) {
  if (!has_shape) shape = {static_cast<std::int64_t>(values.size())};
  std::uint64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) return Error{"a negative dimension"};
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(size), &count))
      return Error{"a shape of too many elements"};
  }
  if (count == values.size()) return success();
  if (values.empty() || count < values.size() || count > kMaxRepeated)
    return Error{"the shape has " + std::to_string(count) + " elements, the tensor " +
                 std::to_string(values.size())};
  values.resize(count, T{values.back()});
  return success();
}

// numpy's name of an array of strings: as many code points as the longest has.
std::string string_type(const std::vector<std::string>& strings) {
  std::ptrdiff_t longest = 1;
  for (const std::string& text : strings)
    longest = std::max(longest, std::count_if(text.begin(), text.end(), [](char c) {
                         return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
                       }));
  return "<U" + std::to_string(longest);
}

Result<TensorValue> convert(StoredTensor tensor) {
  if (tensor.type == 0 && !tensor.strings.empty()) tensor.type = kString;
  const DataType* const type = data_type(tensor.type);
  if (type == nullptr) return Error{"data type " + std::to_string(tensor.type) + " is unknown"};
  if (!tensor.content.empty() && (type->bytes == 0 || tensor.content.size() % type->bytes != 0))
    return Error{"tensor_content is no whole number of elements"};
  if (tensor.type == kHalf || tensor.type == kBfloat16) decode_halves(tensor);
  unpack(tensor);
  TensorValue value;
  value.dtype = type->name;
  value.shape = tensor.shape.value_or(std::vector<std::int64_t>{});
  const auto finish = [&](auto values) -> Result<TensorValue> {
    if (const Status filled = fill_shape(values, value.shape, tensor.shape.has_value()); !filled)
      return filled.error();
    value.values = std::move(values);
    return std::move(value);
  };
  switch (tensor.type) {
    case kString:
      value.dtype = string_type(tensor.strings);
      return finish(std::move(tensor.strings));
    case kComplex64:
    case kComplex128: {
      std::vector<double> real;
      for (std::size_t at = 0; at + 1 < tensor.reals.size(); at += 2) {
        real.push_back(tensor.reals[at]);
        value.imaginary.push_back(tensor.reals[at + 1]);
      }
      auto complete = finish(std::move(real));
      if (!complete || complete->imaginary.empty()) return complete;
      complete->imaginary.resize(std::get<0>(complete->values).size(), complete->imaginary.back());
      return complete;
    }
    case kFloat:
    case kDouble:
    case kHalf:
    case kBfloat16:
      return finish(std::move(tensor.reals));
    case kUint32:
    case kUint64:
      return finish(std::move(tensor.naturals));
    default:
      return finish(std::move(tensor.integers));
  }
}

}  // namespace

Result<TensorValue> read_tensor_record(std::string_view record) {
  const auto payload = record_payload(record);
  if (!payload) return payload.error();
  try {
    auto tensor = find_tensor(*payload);
    if (!tensor) return Error{"no tensor in the record"};
    return convert(std::move(*tensor));
  } catch (const protozero::exception& broken) {
    return Error{broken.what()};
  }
}

std::size_t stored_element_bytes(int type) {
  const DataType* const known = data_type(type);
  return known == nullptr ? 0 : known->bytes;
}

std::string_view stored_type_name(int type) {
  const DataType* const known = data_type(type);
  return known == nullptr ? "" : known->name;
}

}  // namespace trainwatch
