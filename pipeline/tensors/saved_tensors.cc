// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/saved_tensors.h"

#include <variant>

#include "pipeline/tensors/tensor_reduction.h"

namespace trainwatch {

std::map<std::string, SavedTensor> saved_tensors(const TensorIndex& index,
                                                 const std::set<std::string>& names) {
  std::map<std::string, SavedTensor> tensors;
  for (const IndexedTensor& tensor : index.tensors) {
    const ReductionName parts = parse_reduction_name(tensor.name);
    if (parts.reduction.empty()) {
      SavedTensor& saved = tensors[tensor.name];
      saved.record = tensor.record;
      saved.shape = tensor.shape;
    } else if (tensor.record) {
      tensors[reduced_tensor(tensor.name, names)].reductions[std::string{parts.reduction}] =
          *tensor.record;
    }
  }
  return tensors;
}

Result<double> single_number(const TensorValue& value) {
  const auto* const numbers = std::get_if<std::vector<double>>(&value.values);
  if (numbers == nullptr || numbers->size() != 1) return Error{"the reduction is not one number"};
  return numbers->front();
}

Result<ReducedTensor> read_reduction(const Trial& trial, const TensorIndex& index,
                                     const SavedTensor& tensor, const std::string& reduction) {
  const auto saved = tensor.reductions.find(reduction);
  const bool is_saved = saved != tensor.reductions.end();
  if (!is_saved && !tensor.record) return Error{"neither it nor the values were saved"};
  const auto value = trial.read_value(index, is_saved ? saved->second : *tensor.record);
  if (!value) return value.error();
  const auto number = is_saved ? single_number(*value) : reduce(*value, reduction);
  if (!number) return number.error();
  return ReducedTensor{*number, is_saved};
}

}  // namespace trainwatch
