// SPDX-License-Identifier: Apache-2.0
// The statistics of a tensor whose bytes come in pieces: one pass, each element read once.
//
// Elements are summed up in blocks of kBlock, whose figures are joined in their order, so that the
// result is the same for every cut of the bytes, to the last bit. Memory: one block, the sample,
// and the values if they are kept.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/event_file/block_figures.h"
#include "pipeline/decode/event_file/element_type.h"
#include "trainwatch/state_io.h"
#include "trainwatch/tensor.h"

namespace trainwatch {

class TensorAccumulator {
 public:
  static constexpr std::size_t kBlock = 4096;  // elements

  // For `count` elements of a type that has real numbers. All are kept as values if `keep` and
  // there are at most Tensor::kMostValues.
  void begin(ElementType type, std::uint64_t count, bool keep);
  // The next bytes of the elements, little-endian. Those of more than `count` elements are ignored.
  void add(std::string_view bytes);
  // No more will come: fewer may have come than were announced.
  void finish();
  // After finish(): the elements up to `count` in all have this value.
  void repeat(double value, std::uint64_t count);

  // After finish(). Saturated: figures of numbers near the largest double stay finite.
  TensorStatistics statistics() const;
  std::uint64_t count() const { return figures_.count; }
  std::span<const double> sample() const { return sample_; }
  std::span<const double> values() const { return values_; }
  void state(StateIo& io);

 private:
  template <class Element>
  void block(std::string_view bytes);

  ElementType type_ = ElementType::none;
  bool keep_ = false;
  std::uint64_t expected_ = 0;
  std::uint64_t left_ = 0;  // bytes
  std::string rest_;        // of a block that has begun
  BlockFigures figures_;
  std::vector<double> sample_;
  std::vector<double> values_;
};

}  // namespace trainwatch
