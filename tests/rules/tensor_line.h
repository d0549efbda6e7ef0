// SPDX-License-Identifier: Apache-2.0
// The line "tensor" of rule cases.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rules/words.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/result.h"
#include "trainwatch/tensor.h"

namespace trainwatch::cases {

struct TensorLine {
  // Elements, as ramps over the steps of the line; "v*n" stands for n of them.
  struct Element {
    double from = 0;
    double to = 0;
  };

  std::string_view name;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::vector<Element> elements;
  // Instead of elements: normal(SEED,COUNT,MEAN,DEVIATION), others at each step.
  bool normal = false;
  std::uint64_t seed = 0;
  std::int64_t count = 0;
  double mean = 0;
  double deviation = 1;
  std::vector<std::int64_t> shape;  // default: one axis
  Words collections;
  Mode mode = Mode::global;
  double every = 1;         // seconds
  std::int64_t stride = 1;  // steps from one to the next
  bool whole = true;        // all elements are there, not only a sample

  std::vector<double> values(std::int64_t number) const;
};

Result<TensorLine> read_tensor_line(const Words& words);

// A tensor with its elements.
class OwnedTensor {
 public:
  OwnedTensor(const TensorLine& line, std::int64_t number, Interner& interner);

  Tensor tensor;  // its spans are of the vectors below

 private:
  std::vector<Symbol> collections_;
  std::vector<std::int64_t> shape_;
  std::vector<double> values_;
  std::vector<double> sample_;
};

}  // namespace trainwatch::cases
