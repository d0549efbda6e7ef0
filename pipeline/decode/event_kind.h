// SPDX-License-Identifier: Apache-2.0
// What an event is, from the names that its writer gave it: the kind of a span, from its phase (the
// writer's process name) and its name; the resource of a series, from its type, name and dimension.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/symbol_table.h"

namespace trainwatch {

struct SpanClass {
  SpanKind kind = SpanKind::other;
  Mode mode = Mode::unknown;
};

// Knows SageMaker's timelines, those of the PyTorch hook in python/trainwatch, and
// TensorFlow's profiler.
SpanClass classify_span(std::string_view phase, std::string_view name);

// Remembers the answers by symbol, because a file repeats a few pairs for ever.
class SpanClassifier {
 public:
  // `fallback` is what a span is that classify_span() does not know.
  SpanClass classify(const SymbolTable& symbols, Symbol phase, Symbol name, SpanKind fallback);

 private:
  struct Slot {
    std::uint64_t key = 0;  // both symbols; 0 is no pair of names
    SpanClass answer;
  };
  std::array<std::uint8_t, 256> slot_of_{};  // by hash
  std::vector<Slot> slots_{1};               // the first is nobody's
};

Resource resource_of(std::string_view type, std::string_view name, std::string_view dimension);

// The device that a series of a known resource is about: "cpu3", "gpu0"; for network traffic
// "external", with other machines, or "internal", of the platform and of the host with itself.
// Empty: the whole node.
std::string_view device_of(Resource resource, std::string_view name, std::string_view dimension);

// "cpu12" -> "12", "gpu" -> "".
std::string_view trailing_digits(std::string_view name);
std::uint32_t device_number(std::string_view name);  // of the same; 0 when there is none

}  // namespace trainwatch
