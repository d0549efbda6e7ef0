// SPDX-License-Identifier: Apache-2.0
// Trials and their tensors as JSON, the same for `trainwatch tensors` and /api/v1/tensors. JSON has
// neither NaN nor infinities: they are the texts nan, inf and -inf.
#pragma once

#include <optional>
#include <string>

#include "pipeline/tensors/saved_tensors.h"
#include "pipeline/tensors/tensor_filter.h"
#include "pipeline/tensors/tensor_value.h"
#include "pipeline/tensors/trial.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {

std::string_view to_string(StepState state);  // "not_yet_available"

void write_number(JsonWriter& json, double number);

// The members workers, steps, names, collections, last_complete_step and loaded_all_steps.
void write_trial(JsonWriter& json, const Trial& trial, const TensorFilter& filter,
                 std::optional<TensorMode> mode);

// The members name, step, mode, mode_step, worker.
void write_place(JsonWriter& json, const Trial& trial, const Trial::IndexFile& file,
                 const std::string& name);
// The members dtype, shape, values, and imaginary of complex numbers.
void write_value(JsonWriter& json, const TensorValue& value);
// The same of a tensor whose values were not saved.
void write_no_value(JsonWriter& json, const SavedTensor& tensor);
// The members reduction, value, computed; value is null and error says why if there is none.
void write_reduction(JsonWriter& json, const std::string& reduction,
                     const Result<ReducedTensor>& reduced);

}  // namespace trainwatch
