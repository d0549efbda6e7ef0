// What a span of a timeline is, from its phase (the writer's process name) and its name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "trainwatch/event.h"
#include "trainwatch/symbol_table.h"

namespace trainwatch {

struct SpanClass {
  SpanKind kind = SpanKind::other;
  Mode mode = Mode::unknown;
};

// The catalogue of SageMaker's timelines, of the PyTorch hook in python/trainwatch.py and of
// TensorFlow's profiler.
SpanClass classify_span(std::string_view phase, std::string_view name);

// Remembers the answers by symbol, because a file repeats a few pairs for ever.
class SpanClassifier {
 public:
  // `fallback` is what a span is that the catalogue does not know.
  SpanClass classify(const SymbolTable& symbols, Symbol phase, Symbol name, SpanKind fallback);

 private:
  struct Slot {
    std::uint64_t key = 0;  // both symbols; 0 is no pair of names
    SpanClass answer;
  };
  std::array<Slot, 256> slots_{};
};

}  // namespace trainwatch
