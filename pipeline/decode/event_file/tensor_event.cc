// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/event_file/tensor_event.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "pipeline/decode/event_file/plugin_number.h"
#include "pipeline/decode/event_file/tensor_fields.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxTag = 1024;
constexpr std::size_t kMaxMetadata = 4096;
constexpr std::size_t kMaxDimensions = 64;
constexpr std::uint32_t kMaxVarint = 10;  // bytes
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40U;

bool holds_numbers(std::uint32_t field) {
  switch (field) {
    case tensor_field::floats:
    case tensor_field::doubles:
    case tensor_field::ints:
    case tensor_field::int64s:
    case tensor_field::booleans:
    case tensor_field::halves:
    case tensor_field::uint32s:
    case tensor_field::uint64s:
      return true;
    default:
      return false;
  }
}

}  // namespace

void TensorEventReader::begin(std::uint64_t bytes, bool tensors) {
  TensorEventReader next;
  next.frames_ = std::move(frames_);  // for their memory
  next.tag_ = std::move(tag_);
  next.metadata_ = std::move(metadata_);
  next.shape_ = std::move(shape_);
  next.numbers_ = std::move(numbers_);
  *this = std::move(next);
  frames_.clear();
  tag_.clear();
  metadata_.clear();
  shape_.clear();
  tensors_ = tensors;
  frames_.push_back({Message::event, bytes});
}

void TensorEventReader::add(std::string_view bytes) {
  if (frames_.empty()) return;
  while (!bytes.empty() && !damaged_) {
    switch (expect_) {
      case Expect::key:
        if (varint(bytes)) on_key();
        break;
      case Expect::varint:
        if (varint(bytes)) on_varint();
        break;
      case Expect::length:
        if (varint(bytes)) on_length();
        break;
      case Expect::fixed32:
        if (fixed(bytes, 4)) on_fixed();
        break;
      case Expect::fixed64:
        if (fixed(bytes, 8)) on_fixed();
        break;
      default:
        take_bytes(bytes);
    }
    if (position_ > frames_.back().end) damaged_ = true;
  }
}

// True once the number is whole.
bool TensorEventReader::varint(std::string_view& bytes) {
  if (digits_ == 0) number_ = 0;
  while (!bytes.empty()) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    ++position_;
    number_ |= std::uint64_t{byte & 0x7FU} << (7 * digits_);
    ++digits_;
    if (byte < 0x80) {
      digits_ = 0;
      return true;
    }
    if (digits_ == kMaxVarint) {
      damaged_ = true;
      return false;
    }
  }
  return false;
}

bool TensorEventReader::fixed(std::string_view& bytes, std::uint32_t size) {
  if (digits_ == 0) number_ = 0;
  for (; digits_ < size && !bytes.empty(); ++digits_) {
    number_ |= std::uint64_t{static_cast<unsigned char>(bytes.front())} << (8 * digits_);
    bytes.remove_prefix(1);
    ++position_;
  }
  if (digits_ < size) return false;
  digits_ = 0;
  return true;
}

void TensorEventReader::take_bytes(std::string_view& bytes) {
  const std::string_view taken = bytes.substr(0, bytes_left_);
  bytes.remove_prefix(taken.size());
  position_ += taken.size();
  bytes_left_ -= taken.size();
  if (target_ == Target::tag) tag_.append(taken.substr(0, kMaxTag - tag_.size()));
  if (target_ == Target::metadata) metadata_.append(taken);
  if (target_ == Target::elements) numbers_.add(taken);
  if (bytes_left_ == 0) expect_next();
}

// Behind a field, or a number that has no key.
void TensorEventReader::expect_next() {
  if (position_ > frames_.back().end) return;
  while (frames_.size() > 1 && position_ == frames_.back().end) frames_.pop_back();
  expect_ = Expect::key;
  if (frames_.back().message != Message::packed) return;
  expect_ = Expect::varint;
  if (field_ == tensor_field::floats) expect_ = Expect::fixed32;
  if (field_ == tensor_field::doubles) expect_ = Expect::fixed64;
}

void TensorEventReader::on_key() {
  field_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(number_ >> 3U, ~0U));
  switch (number_ & 7U) {
    case 0:
      expect_ = Expect::varint;
      break;
    case 1:
      expect_ = Expect::fixed64;
      break;
    case 2:
      expect_ = Expect::length;
      break;
    case 5:
      expect_ = Expect::fixed32;
      break;
    default:
      damaged_ = true;
  }
}

void TensorEventReader::on_length() {
  const std::uint64_t length = number_;
  if (position_ > frames_.back().end || length > frames_.back().end - position_) {
    damaged_ = true;
    return;
  }
  const std::uint64_t end = position_ + length;
  switch (frames_.back().message) {
    case Message::event:
      if (field_ == tensor_field::summary) return enter(Message::summary, end);
      break;
    case Message::summary:
      if (field_ == tensor_field::value && !has_tensor_) {
        tag_.clear();
        metadata_.clear();
        return enter(Message::value, end);
      }
      break;
    case Message::value:
      if (field_ == tensor_field::tag) return copy_bytes(Target::tag, length);
      if (field_ == tensor_field::metadata && length <= kMaxMetadata)
        return copy_bytes(Target::metadata, length);
      if (field_ != tensor_field::tensor || has_tensor_) break;
      has_tensor_ = true;
      return enter(Message::tensor, end);
    case Message::tensor:
      if (field_ == tensor_field::shape) {
        has_shape_ = true;
        return enter(Message::shape, end);
      }
      if (field_ == tensor_field::content) return begin_elements(length);
      if (holds_numbers(field_)) return enter(Message::packed, end);
      break;
    case Message::shape:
      if (field_ != tensor_field::dimension) break;
      damaged_ = shape_.size() == kMaxDimensions;
      shape_.push_back(0);
      return enter(Message::dimension, end);
    default:
      break;
  }
  copy_bytes(Target::nothing, length);
}

void TensorEventReader::enter(Message message, std::uint64_t end) {
  frames_.push_back({message, end});
  expect_next();
}

void TensorEventReader::copy_bytes(Target target, std::uint64_t length) {
  if (target == Target::tag) tag_.clear();
  if (target == Target::metadata) metadata_.clear();
  target_ = target;
  bytes_left_ = length;
  expect_ = Expect::bytes;
  if (length == 0) expect_next();
}

void TensorEventReader::begin_elements(std::uint64_t length) {
  const std::size_t size = element_size(type_);
  if (size == 0) return copy_bytes(Target::nothing, length);  // text and complex numbers
  if (length % size != 0 || stored_ != Stored::nothing) {
    damaged_ = true;
    return;
  }
  stored_ = Stored::elements;
  found_ = length / size;
  if (!wants(found_)) return copy_bytes(Target::nothing, length);
  has_numbers_ = true;
  numbers_.begin(type_, found_, tensors_);
  copy_bytes(Target::elements, length);
}

void TensorEventReader::on_varint() {
  const Message message = frames_.back().message;
  const auto integer = static_cast<std::int64_t>(number_);
  if (message == Message::event && field_ == tensor_field::step) step_ = integer;
  if (message == Message::tensor && field_ == tensor_field::dtype)
    type_ = ElementType{static_cast<std::int32_t>(number_)};
  if (message == Message::dimension && field_ == tensor_field::size) shape_.back() = integer;
  const bool single = message == Message::tensor && field_ != tensor_field::dtype;
  if (message == Message::packed || (single && holds_numbers(field_))) number(of_varint());
  expect_next();
}

double TensorEventReader::of_varint() const {
  if (field_ == tensor_field::uint32s || field_ == tensor_field::uint64s)
    return static_cast<double>(number_);
  const auto bits = static_cast<std::uint16_t>(number_);
  if (type_ == ElementType::float16) return of_half(bits);
  if (type_ == ElementType::bfloat16) return of_bfloat16(bits);
  return static_cast<double>(static_cast<std::int64_t>(number_));
}

void TensorEventReader::on_fixed() {
  const Message message = frames_.back().message;
  const bool wide = expect_ == Expect::fixed64;
  const double real = wide ? std::bit_cast<double>(number_)
                           : double{std::bit_cast<float>(static_cast<std::uint32_t>(number_))};
  if (message == Message::event && field_ == tensor_field::wall_time && wide) wall_time_ = real;
  const bool of_tensor = message == Message::tensor || message == Message::packed;
  if (of_tensor && field_ == (wide ? tensor_field::doubles : tensor_field::floats)) number(real);
  if (message == Message::value && field_ == tensor_field::simple_value && !wide && !has_tensor_) {
    has_tensor_ = true;
    type_ = ElementType::float32;
    number(real);
  }
  expect_next();
}

// Of a field that has numbers one by one.
void TensorEventReader::number(double value) {
  if (stored_ == Stored::elements || (element_size(type_) == 0)) return;
  if (stored_ == Stored::nothing) {
    stored_ = Stored::numbers;
    expected_ = elements_of_shape().value_or(0);
    has_numbers_ = wants(expected_);
    if (has_numbers_) numbers_.begin(ElementType::float64, expected_, tensors_);
  }
  ++found_;
  last_ = value;
  if (!has_numbers_) return;
  const auto bytes = std::bit_cast<std::array<char, sizeof value>>(value);
  numbers_.add({bytes.data(), bytes.size()});
}

std::optional<std::uint64_t> TensorEventReader::elements_of_shape() const {
  std::uint64_t elements = 1;
  for (const std::int64_t size : shape_) {
    if (size < 0 || __builtin_mul_overflow(elements, static_cast<std::uint64_t>(size), &elements))
      return std::nullopt;
  }
  if (elements > kMostElements) return std::nullopt;
  return elements;
}

Rejection TensorEventReader::end() {
  const bool whole = frames_.size() == 1 && position_ == frames_.front().end &&
                     expect_ == Expect::key && digits_ == 0;
  if (damaged_ || !whole) {
    has_numbers_ = false;
    return RejectReason::syntax;
  }
  if (!has_tensor_ || element_size(type_) == 0) return std::nullopt;
  Rejection rejection = complete_numbers();
  if (rejection) has_numbers_ = false;
  return rejection;
}

Rejection TensorEventReader::complete_numbers() {
  const auto elements = elements_of_shape();
  if (!elements) return RejectReason::type;
  if (stored_ == Stored::elements && !has_shape_ && found_ != 1)
    shape_ = {static_cast<std::int64_t>(found_)};
  // TensorFlow leaves out a last value that repeats; a content may be a single value.
  const bool repeats = found_ > 0 && found_ < *elements;
  const bool one = repeats && found_ == 1;
  if (stored_ == Stored::elements && has_shape_ && found_ != *elements && !one)
    return RejectReason::type;
  if (stored_ == Stored::nothing) {
    if (*elements != 0 || !has_shape_) return RejectReason::type;
    has_numbers_ = wants(0);
    numbers_.begin(type_, 0, false);
  }
  const bool announced = repeats && *elements == expected_;
  if (stored_ == Stored::numbers && found_ != *elements && !announced) return RejectReason::type;
  if (!has_numbers_) return std::nullopt;
  numbers_.finish();
  if (repeats) {
    const bool numbers = stored_ == Stored::numbers;
    numbers_.repeat(numbers ? last_ : numbers_.sample().front(), *elements);
  }
  return std::nullopt;
}

std::optional<std::int64_t> TensorEventReader::plugin_number(std::string_view plugin) const {
  return trainwatch::plugin_number(metadata_, plugin);
}

void TensorEventReader::state(StateIo& io) {
  io(frames_);
  io(position_);
  io(expect_);
  io(number_);
  io(digits_);
  io(field_);
  io(bytes_left_);
  io(target_);
  io(tensors_);
  io(damaged_);
  io(has_tensor_);
  io(has_shape_);
  io(has_numbers_);
  io(stored_);
  io(expected_);
  io(found_);
  io(last_);
  io(wall_time_);
  io(step_);
  io(tag_);
  io(metadata_);
  io(type_);
  io(shape_);
  io(numbers_);
  const bool possible = expect_ < Expect::count_ && target_ < Target::count_ &&
                        stored_ < Stored::count_ && digits_ < kMaxVarint &&
                        frames_.size() <= static_cast<std::size_t>(Message::count_) &&
                        tag_.size() <= kMaxTag && metadata_.size() <= kMaxMetadata &&
                        shape_.size() <= kMaxDimensions + 1;
  if (!possible || (position_ > 0 && frames_.empty())) io.fail();
  for (const Frame& frame : frames_) {
    const bool sized = frame.message != Message::dimension || !shape_.empty();
    if (frame.message >= Message::count_ || !sized) io.fail();
  }
  if (!io.ok()) begin(0, false);
}

}  // namespace trainwatch
