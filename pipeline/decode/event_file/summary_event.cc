// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/event_file/summary_event.h"

#include <optional>
#include <protozero/pbf_message.hpp>

#include "pipeline/decode/event_file/element_type.h"
#include "pipeline/decode/event_file/tensor_fields.h"

namespace trainwatch {
namespace {

using protozero::tag_and_type;
using WireType = protozero::pbf_wire_type;

std::string_view text(const protozero::data_view& view) {
  return {view.data(), view.size()};
}

// The only number of little-endian contents; nullopt: they have another size, or no number.
std::optional<double> of_content(ElementType type, std::string_view content) {
  std::optional<double> number;
  with_element(type, [&]<class Element>(Element) {
    if (content.size() != sizeof(typename Element::Stored)) return;
    number = static_cast<double>(read_element<Element>(content.data()));
  });
  return number;
}

// Of a repeated field that is packed: a scalar has one value.
template <class Range>
std::optional<double> first_of(const Range& range) {
  if (range.begin() == range.end()) return std::nullopt;
  return static_cast<double>(*range.begin());
}

bool has_dimensions(protozero::data_view view) {
  protozero::pbf_message<tensor_field::Shape> shape{view};
  return shape.next(tensor_field::dimension, WireType::length_delimited);
}

// Nullopt: it is not one number.
std::optional<double> scalar_of(protozero::data_view view) {
  protozero::pbf_message<tensor_field::Tensor> tensor{view};
  ElementType type{};
  std::optional<double> number;
  std::string_view content;
  while (tensor.next()) {
    switch (tensor.tag_and_type()) {
      case tag_and_type(tensor_field::dtype, WireType::varint):
        type = ElementType{tensor.get_enum()};
        break;
      case tag_and_type(tensor_field::shape, WireType::length_delimited):
        if (has_dimensions(tensor.get_view())) return std::nullopt;
        break;
      case tag_and_type(tensor_field::content, WireType::length_delimited):
        content = text(tensor.get_view());
        break;
      case tag_and_type(tensor_field::floats, WireType::length_delimited):
        number = first_of(tensor.get_packed_float());
        break;
      case tag_and_type(tensor_field::floats, WireType::fixed32):
        number = static_cast<double>(tensor.get_float());
        break;
      case tag_and_type(tensor_field::doubles, WireType::length_delimited):
        number = first_of(tensor.get_packed_double());
        break;
      case tag_and_type(tensor_field::doubles, WireType::fixed64):
        number = static_cast<double>(tensor.get_double());
        break;
      case tag_and_type(tensor_field::ints, WireType::length_delimited):
        number = first_of(tensor.get_packed_int32());
        break;
      case tag_and_type(tensor_field::ints, WireType::varint):
        number = static_cast<double>(tensor.get_int32());
        break;
      case tag_and_type(tensor_field::int64s, WireType::length_delimited):
        number = first_of(tensor.get_packed_int64());
        break;
      case tag_and_type(tensor_field::int64s, WireType::varint):
        number = static_cast<double>(tensor.get_int64());
        break;
      case tag_and_type(tensor_field::booleans, WireType::length_delimited):
        number = first_of(tensor.get_packed_bool());
        break;
      case tag_and_type(tensor_field::booleans, WireType::varint):
        number = tensor.get_bool() ? 1 : 0;
        break;
      case tag_and_type(tensor_field::halves, WireType::length_delimited):
        number = first_of(tensor.get_packed_int32());
        break;
      case tag_and_type(tensor_field::halves, WireType::varint):
        number = static_cast<double>(tensor.get_int32());
        break;
      case tag_and_type(tensor_field::uint32s, WireType::length_delimited):
        number = first_of(tensor.get_packed_uint32());
        break;
      case tag_and_type(tensor_field::uint32s, WireType::varint):
        number = static_cast<double>(tensor.get_uint32());
        break;
      case tag_and_type(tensor_field::uint64s, WireType::length_delimited):
        number = first_of(tensor.get_packed_uint64());
        break;
      case tag_and_type(tensor_field::uint64s, WireType::varint):
        number = static_cast<double>(tensor.get_uint64());
        break;
      default:
        tensor.skip();
    }
  }
  if (!content.empty()) return of_content(type, content);
  if (!number) return std::nullopt;
  if (type != ElementType::float16 && type != ElementType::bfloat16) return number;
  const auto bits = static_cast<std::uint16_t>(static_cast<std::int64_t>(*number));
  return double{type == ElementType::float16 ? of_half(bits) : of_bfloat16(bits)};
}

void read_value(protozero::data_view view, SummaryEvent& event) {
  protozero::pbf_message<tensor_field::Value> message{view};
  SummaryEvent::Value value;
  bool numeric = false;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(tensor_field::tag, WireType::length_delimited):
        value.tag = text(message.get_view());
        break;
      case tag_and_type(tensor_field::simple_value, WireType::fixed32):
        value.number = message.get_float();
        numeric = true;
        break;
      case tag_and_type(tensor_field::tensor, WireType::length_delimited):
        if (const auto number = scalar_of(message.get_view())) {
          value.number = *number;
          numeric = true;
        }
        break;
      default:
        message.skip();
    }
  }
  if (numeric) event.values.push_back(value);
}

void read_summary(protozero::data_view view, SummaryEvent& event) {
  protozero::pbf_message<tensor_field::Summary> summary{view};
  while (summary.next(tensor_field::value, WireType::length_delimited))
    read_value(summary.get_view(), event);
}

void read_event(std::string_view payload, SummaryEvent& event) {
  protozero::pbf_message<tensor_field::Event> message{payload.data(), payload.size()};
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(tensor_field::wall_time, WireType::fixed64):
        event.wall_time = message.get_double();
        break;
      case tag_and_type(tensor_field::step, WireType::varint):
        event.step = message.get_int64();
        break;
      case tag_and_type(tensor_field::summary, WireType::length_delimited):
        read_summary(message.get_view(), event);
        break;
      default:
        message.skip();
    }
  }
}

}  // namespace

bool read_summary_event(std::string_view payload, SummaryEvent& event) {
  std::vector<SummaryEvent::Value> values = std::move(event.values);
  values.clear();
  event = {};
  event.values = std::move(values);
  try {
    read_event(payload, event);
  } catch (const protozero::exception&) {  // malformed
    event.values.clear();
    return false;
  }
  return true;
}

}  // namespace trainwatch
