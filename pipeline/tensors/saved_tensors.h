// SPDX-License-Identifier: Apache-2.0
// What one worker has saved of each tensor at one step: values, shape, reductions; and what a
// person asked to see of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/tensors/tensor_index.h"
#include "pipeline/tensors/tensor_value.h"
#include "pipeline/tensors/trial.h"
#include "trainwatch/result.h"

namespace trainwatch {

struct SavedTensor {
  std::optional<RecordRange> record;
  std::optional<std::vector<std::int64_t>> shape;  // if it was saved by itself
  std::map<std::string, RecordRange> reductions;
};

// By the names that the trial gives them.
std::map<std::string, SavedTensor> saved_tensors(const TensorIndex& index,
                                                 const std::set<std::string>& names);

// A reduction as it was saved, else of the values. Fails if there are neither, and as reduce()
// does.
struct ReducedTensor {
  double value = 0;
  bool saved = false;
};
Result<ReducedTensor> read_reduction(const Trial& trial, const TensorIndex& index,
                                     const SavedTensor& tensor, const std::string& reduction);
// The number of a reduction that was saved.
Result<double> single_number(const TensorValue& value);

}  // namespace trainwatch
