// SPDX-License-Identifier: Apache-2.0
// One event with a tensor, as TensorFlow and SageMaker Debugger write it (event.proto,
// summary.proto, tensor.proto), read as its bytes come: of a tensor of any size only its
// statistics, a sample and, if there is room, its values are kept.
//
// Of an event with several values the first that is a tensor counts. Any bytes are read or refused,
// with the same result for every cut.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/decoder.h"
#include "pipeline/decode/event_file/tensor_statistics.h"

namespace trainwatch {

class TensorEventReader {
 public:
  // A payload of so many bytes begins. `tensors`: read tensors of more than one element, too.
  void begin(std::uint64_t bytes, bool tensors);
  void add(std::string_view bytes);
  // All of it came. nullopt: it is an event; has_numbers() says whether it has a tensor to use.
  Rejection end();

  // Valid after end(), until begin().
  bool has_numbers() const { return has_numbers_; }
  double wall_time() const { return wall_time_; }  // seconds since 1970
  std::int64_t step() const { return step_; }
  std::string_view tag() const { return tag_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  const TensorAccumulator& numbers() const { return numbers_; }
  // What a plugin has left with the value: SageMaker Debugger's "mode" and "mode_step".
  std::optional<std::int64_t> plugin_number(std::string_view plugin) const;

  // Gives back the memory of a large tensor.
  void release() { numbers_ = {}; }
  void state(StateIo& io);

 private:
  enum class Message : std::uint8_t {
    event,
    summary,
    value,
    tensor,
    shape,
    dimension,
    packed,  // numbers without keys
    count_,
  };
  enum class Expect : std::uint8_t { key, varint, length, fixed32, fixed64, bytes, count_ };
  enum class Target : std::uint8_t { nothing, tag, metadata, elements, count_ };
  enum class Stored : std::uint8_t { nothing, elements, numbers, count_ };
  struct Frame {
    Message message = Message::event;
    std::uint64_t end = 0;  // offset in the payload
  };

  bool varint(std::string_view& bytes);
  bool fixed(std::string_view& bytes, std::uint32_t size);
  void take_bytes(std::string_view& bytes);
  void on_key();
  void on_length();
  void on_varint();
  void on_fixed();
  void expect_next();
  void enter(Message message, std::uint64_t end);
  void copy_bytes(Target target, std::uint64_t length);
  void begin_elements(std::uint64_t length);
  void number(double value);
  double of_varint() const;
  bool wants(std::uint64_t count) const { return tensors_ || count == 1; }
  // nullopt: too many, or a dimension is negative.
  std::optional<std::uint64_t> elements_of_shape() const;
  Rejection complete_numbers();

  std::vector<Frame> frames_;  // empty: the payload is no event
  std::uint64_t position_ = 0;
  Expect expect_ = Expect::key;
  std::uint64_t number_ = 0;      // as far as it was read
  std::uint32_t digits_ = 0;      // bytes of it
  std::uint32_t field_ = 0;       // of the last key
  std::uint64_t bytes_left_ = 0;  // for Expect::bytes
  Target target_ = Target::nothing;
  bool tensors_ = false;
  bool damaged_ = false;
  bool has_tensor_ = false;
  bool has_shape_ = false;
  bool has_numbers_ = false;
  Stored stored_ = Stored::nothing;
  std::uint64_t expected_ = 0;  // numbers
  std::uint64_t found_ = 0;
  double last_ = 0;  // number

  double wall_time_ = 0;
  std::int64_t step_ = 0;
  std::string tag_;
  std::string metadata_;
  ElementType type_ = ElementType::none;
  std::vector<std::int64_t> shape_;
  TensorAccumulator numbers_;
};

}  // namespace trainwatch
