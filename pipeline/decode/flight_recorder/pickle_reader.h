// SPDX-License-Identifier: Apache-2.0
// Reads the pickles that PyTorch's Flight Recorder writes: dictionaries, lists, tuples, strings and
// numbers. Nothing in a file can name a function or a class: the opcodes that plain data needs are
// read, and any other ends the reading with its name and offset.
//
// Opcodes: those of PyTorch's writer (torch/csrc/jit/serialization/pickler.cpp), and those that
// Python's protocols 4 and 5 use for the same data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace trainwatch {

struct PickleContainer;

// Strings are parts of the input. Whoever holds a value holds what it contains; neither may outlive
// the memory passed to read_pickle().
using PickleValue = std::variant<std::monostate, bool, std::int64_t, double, std::string_view,
                                 std::shared_ptr<PickleContainer>>;

struct PickleContainer {
  enum class Kind : std::uint8_t { list, tuple, dict };

  PickleContainer(Kind its_kind, std::pmr::memory_resource* memory)
      : kind(its_kind), items(memory) {}

  Kind kind;
  bool open = true;                     // may grow: nothing else refers to it
  std::size_t depth = 1;                // of what it contains, itself included
  std::pmr::vector<PickleValue> items;  // of a dict: key, value, key, value; keys are strings

  // Of a dict: the value of a key, or null.
  const PickleValue* find(std::string_view key) const;
};

std::shared_ptr<PickleContainer> make_container(PickleContainer::Kind kind,
                                                std::pmr::memory_resource& memory);

// Of a value: null, or what it is.
const PickleContainer* container_of(const PickleValue* value, PickleContainer::Kind kind);

struct PickleLimits {
  std::size_t file_bytes = std::size_t{64} << 20U;
  std::size_t depth = 32;
  std::size_t text_bytes = std::size_t{1} << 20U;
};

// For the values of the largest dumps that are read.
inline constexpr std::size_t kPickleMemory = std::size_t{24} << 20U;

struct PickleResult {
  enum class End : std::uint8_t {
    whole,       // up to STOP; `bytes` is the offset behind it
    incomplete,  // the input ends before STOP: the file is still being written
    damaged,     // or nothing that this reader accepts: see `error`
  };
  End end = End::incomplete;
  std::size_t bytes = 0;
  std::string error;  // "opcode GLOBAL at byte 17"
  PickleValue value;  // of a whole pickle
};

// `take`, if set, sees each dict as it is filled. Where it returns true, the dict is left empty:
// so of a long list of dicts only one is in memory at a time. A pickle whose values do not fit into
// `memory` (bounded_memory.h) is damaged.
PickleResult read_pickle(std::string_view bytes, std::pmr::memory_resource& memory,
                         const std::function<bool(const PickleContainer&)>& take = {},
                         const PickleLimits& limits = {});

}  // namespace trainwatch
