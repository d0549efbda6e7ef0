// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/flight_recorder/pickle_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <optional>

#include "pipeline/decode/bounded_memory.h"

namespace trainwatch {
namespace {

using Kind = PickleContainer::Kind;
using PickleEnd = PickleResult::End;

struct OpcodeName {
  std::uint8_t code;
  std::string_view name;
};

// Of opcodes that are never read, for the message.
constexpr std::array kRefused = {
    OpcodeName{0x30, "POP"},          OpcodeName{0x31, "POP_MARK"},
    OpcodeName{0x32, "DUP"},          OpcodeName{0x46, "FLOAT"},
    OpcodeName{0x49, "INT"},          OpcodeName{0x4c, "LONG"},
    OpcodeName{0x50, "PERSID"},       OpcodeName{0x51, "BINPERSID"},
    OpcodeName{0x52, "REDUCE"},       OpcodeName{0x53, "STRING"},
    OpcodeName{0x54, "BINSTRING"},    OpcodeName{0x55, "SHORT_BINSTRING"},
    OpcodeName{0x56, "UNICODE"},      OpcodeName{0x62, "BUILD"},
    OpcodeName{0x63, "GLOBAL"},       OpcodeName{0x64, "DICT"},
    OpcodeName{0x67, "GET"},          OpcodeName{0x69, "INST"},
    OpcodeName{0x6c, "LIST"},         OpcodeName{0x6f, "OBJ"},
    OpcodeName{0x70, "PUT"},          OpcodeName{0x81, "NEWOBJ"},
    OpcodeName{0x82, "EXT1"},         OpcodeName{0x83, "EXT2"},
    OpcodeName{0x84, "EXT4"},         OpcodeName{0x8b, "LONG4"},
    OpcodeName{0x8d, "BINUNICODE8"},  OpcodeName{0x8e, "BINBYTES8"},
    OpcodeName{0x8f, "EMPTY_SET"},    OpcodeName{0x90, "ADDITEMS"},
    OpcodeName{0x91, "FROZENSET"},    OpcodeName{0x92, "NEWOBJ_EX"},
    OpcodeName{0x93, "STACK_GLOBAL"}, OpcodeName{0x96, "BYTEARRAY8"},
    OpcodeName{0x97, "NEXT_BUFFER"},  OpcodeName{0x98, "READONLY_BUFFER"},
};

std::string name_of(std::uint8_t opcode) {
  const auto* const found = std::ranges::find(kRefused, opcode, &OpcodeName::code);
  if (found != kRefused.end()) return std::string(found->name);
  char text[8];
  std::snprintf(text, sizeof text, "0x%02x", opcode);
  return text;
}

class PickleReader {
 public:
  PickleReader(std::string_view bytes, std::pmr::memory_resource& memory,
               const std::function<bool(const PickleContainer&)>& take, const PickleLimits& limits)
      : bytes_(bytes), memory_(&memory), take_(take), limits_(limits) {}

  PickleResult read() {
    if (bytes_.size() > limits_.file_bytes) fail("more than the largest size of a file");
    try {
      while (end_ == PickleEnd::incomplete) {
        begin_ = at_;
        const auto opcode = number(1);
        if (!opcode || !step(static_cast<std::uint8_t>(*opcode))) break;
      }
    } catch (const OverBudget& over) {
      fail(over.what());
    }
    PickleResult result{end_, at_, std::move(error_), {}};
    if (end_ == PickleEnd::whole) result.value = std::move(stack_.front());
    return result;
  }

 private:
  // False: the input ends here, or an error was found.
  bool step(std::uint8_t opcode) {
    switch (opcode) {
      case 0x80:
        return protocol();
      case 0x95:  // FRAME: the size is a hint for buffers
        return number(8).has_value();
      case 0x2e:
        return stop();
      case 0x28:
        if (marks_.size() == 2 * limits_.depth) return fail("nesting too deep");
        marks_.push_back(stack_.size());
        return true;
      case 0x71:
        return put(number(1));
      case 0x72:
        return put(number(4));
      case 0x94:
        return put(memo_.size());
      case 0x68:
        return get(number(1));
      case 0x6a:
        return get(number(4));
      case 0x75:
        return set_items(to_mark());
      case 0x73:
        return set_items(last(2));
      case 0x65:
        return append(to_mark());
      case 0x61:
        return append(last(1));
      case 0x74:
        return tuple(to_mark());
      case 0x85:
      case 0x86:
      case 0x87:
        return tuple(last(opcode - 0x84U));
      default:
        return scalar(opcode);
    }
  }

  bool scalar(std::uint8_t opcode) {
    switch (opcode) {
      case 0x4e:
        return push(std::monostate{});
      case 0x88:
        return push(true);
      case 0x89:
        return push(false);
      case 0x7d:
        return push(make(Kind::dict));
      case 0x5d:
        return push(make(Kind::list));
      case 0x29:
        return push(make(Kind::tuple));
      case 0x58:
        return text(number(4));
      case 0x8c:
        return text(number(1));
      case 0x4b:
        return integer(number(1));
      case 0x4d:
        return integer(number(2));
      case 0x4a:
        return integer(extended(4));
      case 0x8a:
        return long_integer();
      case 0x47:
        return real();
      default:
        return fail("opcode " + name_of(opcode));
    }
  }

  bool fail(const std::string& what) {
    end_ = PickleEnd::damaged;
    error_ = what + " at byte " + std::to_string(begin_);
    return false;
  }

  // Little-endian and unsigned.
  std::optional<std::uint64_t> number(std::size_t size) {
    if (bytes_.size() - at_ < size) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value |= std::uint64_t{static_cast<std::uint8_t>(bytes_[at_ + i])} << (8 * i);
    }
    at_ += size;
    return value;
  }
  // Two's complement.
  std::optional<std::uint64_t> extended(std::size_t size) {
    auto value = number(size);
    if (!value || size == 0 || size == 8) return value;
    const std::uint64_t sign = std::uint64_t{1} << (8 * size - 1);
    return (*value ^ sign) - sign;
  }

  bool protocol() {
    const auto version = number(1);
    if (!version) return false;
    return begin_ == 0 && *version >= 2 && *version <= 5 ? true : fail("protocol");
  }
  bool integer(std::optional<std::uint64_t> value) {
    return value && push(static_cast<std::int64_t>(*value));
  }
  bool long_integer() {
    const auto size = number(1);
    if (!size) return false;
    return *size > 8 ? fail("integer of more than 64 bits") : integer(extended(*size));
  }
  bool real() {
    if (bytes_.size() - at_ < 8) return false;
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8U | static_cast<std::uint8_t>(bytes_[at_++]);
    return push(std::bit_cast<double>(bits));
  }
  bool text(std::optional<std::uint64_t> size) {
    if (!size) return false;
    if (*size > limits_.text_bytes) return fail("string too long");
    if (bytes_.size() - at_ < *size) return false;
    at_ += *size;
    return push(bytes_.substr(at_ - *size, *size));
  }

  std::shared_ptr<PickleContainer> make(Kind kind) const { return make_container(kind, *memory_); }
  bool push(PickleValue value) {
    stack_.push_back(std::move(value));
    return true;
  }

  // Where the values begin that an opcode takes off the stack.
  std::optional<std::size_t> to_mark() {
    if (marks_.empty()) return std::nullopt;
    const std::size_t mark = marks_.back();
    marks_.pop_back();
    return mark;
  }
  std::optional<std::size_t> last(std::size_t count) const {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() - floor < count) return std::nullopt;
    return stack_.size() - count;
  }

  // The container below those values, if it may still grow.
  std::shared_ptr<PickleContainer> target(std::optional<std::size_t> from, Kind kind) {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (!from || *from <= floor) return nullptr;
    const auto* const below = std::get_if<std::shared_ptr<PickleContainer>>(&stack_[*from - 1]);
    const bool fits = below != nullptr && (*below)->kind == kind && (*below)->open;
    return fits ? *below : nullptr;
  }
  // Moves the values into a container. What is contained cannot grow any more, so that no container
  // can come to contain itself.
  bool absorb(PickleContainer& into, std::size_t from) {
    for (std::size_t i = from; i < stack_.size(); ++i) {
      if (const auto* const part = std::get_if<std::shared_ptr<PickleContainer>>(&stack_[i])) {
        (*part)->open = false;
        into.depth = std::max(into.depth, (*part)->depth + 1);
      }
      into.items.push_back(std::move(stack_[i]));
    }
    stack_.resize(from);
    return into.depth <= limits_.depth ? true : fail("nesting too deep");
  }

  bool set_items(std::optional<std::size_t> from) {
    const auto dict = target(from, Kind::dict);
    if (dict == nullptr || (stack_.size() - *from) % 2 != 0) return fail("items of no dict");
    for (std::size_t i = *from; i < stack_.size(); i += 2) {
      if (!std::holds_alternative<std::string_view>(stack_[i]))
        return fail("key that is no string");
    }
    if (!absorb(*dict, *from)) return false;
    if (take_ && take_(*dict)) dict->items.clear();
    return true;
  }
  bool append(std::optional<std::size_t> from) {
    const auto list = target(from, Kind::list);
    return list == nullptr ? fail("items of no list") : absorb(*list, *from);
  }
  bool tuple(std::optional<std::size_t> from) {
    if (!from) return fail("items of no tuple");
    const auto made = make(Kind::tuple);
    return absorb(*made, *from) && push(made);
  }

  bool put(std::optional<std::uint64_t> index) {
    if (!index) return false;
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) return fail("memo of nothing");
    // Dense: a writer counts. A number may be used again.
    if (*index > memo_.size()) return fail("memo index");
    if (*index == memo_.size()) memo_.emplace_back();
    memo_[*index] = stack_.back();
    return true;
  }
  bool is_being_filled(const PickleContainer& container) const {
    return std::ranges::any_of(marks_, [&](std::size_t mark) {
      const auto* const below =
          mark == 0 ? nullptr : std::get_if<std::shared_ptr<PickleContainer>>(&stack_[mark - 1]);
      return below != nullptr && below->get() == &container;
    });
  }
  // What is used a second time cannot grow any more either.
  bool get(std::optional<std::uint64_t> index) {
    if (!index) return false;
    if (*index >= memo_.size()) return fail("memo index");
    const PickleValue& value = memo_[*index];
    if (const auto* const part = std::get_if<std::shared_ptr<PickleContainer>>(&value)) {
      if (is_being_filled(**part)) return fail("container within itself");
      (*part)->open = false;
    }
    return push(value);
  }
  bool stop() {
    if (stack_.size() != 1 || !marks_.empty()) return fail("STOP");
    end_ = PickleEnd::whole;
    return true;
  }

  std::string_view bytes_;
  std::pmr::memory_resource* memory_;
  const std::function<bool(const PickleContainer&)>& take_;
  const PickleLimits& limits_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;  // of the opcode
  std::pmr::vector<PickleValue> stack_{memory_};
  std::vector<std::size_t> marks_;  // sizes of the stack; few, see `depth`
  std::pmr::vector<PickleValue> memo_{memory_};
  PickleEnd end_ = PickleEnd::incomplete;
  std::string error_;
};

}  // namespace

const PickleValue* PickleContainer::find(std::string_view key) const {
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const auto* const name = std::get_if<std::string_view>(&items[i]);
    if (name != nullptr && *name == key) return &items[i + 1];
  }
  return nullptr;
}

std::shared_ptr<PickleContainer> make_container(PickleContainer::Kind kind,
                                                std::pmr::memory_resource& memory) {
  const std::pmr::polymorphic_allocator<PickleContainer> allocator(&memory);
  return std::allocate_shared<PickleContainer>(allocator, kind, &memory);
}

const PickleContainer* container_of(const PickleValue* value, PickleContainer::Kind kind) {
  if (value == nullptr) return nullptr;
  const auto* const part = std::get_if<std::shared_ptr<PickleContainer>>(value);
  return part != nullptr && (*part)->kind == kind ? part->get() : nullptr;
}

PickleResult read_pickle(std::string_view bytes, std::pmr::memory_resource& memory,
                         const std::function<bool(const PickleContainer&)>& take,
                         const PickleLimits& limits) {
  PickleReader reader(bytes, memory, take, limits);
  return reader.read();
}

}  // namespace trainwatch
