// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/tensor_value_response.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pipeline/tensors/npy.h"
#include "pipeline/tensors/saved_tensors.h"
#include "pipeline/tensors/tensor_image.h"
#include "pipeline/tensors/tensor_outline.h"
#include "pipeline/tensors/tensor_reduction.h"
#include "pipeline/tensors/tensor_slice.h"
#include "pipeline/tensors/trial_json.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

using ValueFormat = TensorQuery::Format;

constexpr std::uint64_t kJsonNumber = 26;  // bytes: a double's longest text and a comma

struct FoundTensor {
  const Trial::IndexFile* file = nullptr;
  TensorIndex index;
  SavedTensor tensor;
};

// Where a tensor is, of the only worker that may be meant, or of the first one that has it.
std::optional<FoundTensor> find_tensor(const Trial& trial, const TensorQuery& query,
                                       std::int64_t step) {
  for (const Trial::IndexFile& file : trial.index_files(step)) {
    if (query.worker && *query.worker != file.worker) continue;
    auto index = trial.read_index(file);
    if (!index) continue;
    auto tensors = saved_tensors(*index, trial.names());
    const auto found = tensors.find(query.name);
    if (found != tensors.end())
      return FoundTensor{&file, std::move(*index), std::move(found->second)};
  }
  return std::nullopt;
}

// Reads values within a bound of memory.
class BoundedReader {
 public:
  BoundedReader(const Trial& trial, const TensorIndex& index, std::uint64_t most_bytes)
      : trial_(trial), index_(index), most_bytes_(most_bytes) {}

  Result<TensorValue> read(const RecordRange& range) {
    if (range.bytes > most_bytes_) return too_large();
    const auto record = trial_.read_record(index_, range);
    if (!record) return record.error();
    if (const auto outline = outline_tensor(*record);
        outline && outline->decoded_bytes > most_bytes_ - range.bytes)
      return too_large();
    return read_tensor_record(*record);
  }
  // Whether what is made of `value` fits beside it.
  bool fits(const TensorValue& value, std::uint64_t made_bytes_each) const {
    std::uint64_t bytes = 0;
    std::visit([&](const auto& values) { bytes = bytes_of_values(values, made_bytes_each); },
               value.values);
    return bytes + value.imaginary.size() * (sizeof(double) + made_bytes_each) <= most_bytes_;
  }
  Error too_large() {
    is_too_large_ = true;
    return {"the tensor takes more than " + std::to_string(most_bytes_ >> 20U) +
            " MiB of memory; 'trainwatch tensors' has no limit"};
  }
  int status_of_failure() const { return is_too_large_ ? 413 : 404; }

 private:
  template <class T>
  static std::uint64_t bytes_of_values(const std::vector<T>& values, std::uint64_t made) {
    std::uint64_t bytes = values.size() * (sizeof(T) + made);
    if constexpr (std::is_same_v<T, std::string>) {
      for (const std::string& text : values) bytes += 7 * text.size();  // escaped, as JSON
    }
    return bytes;
  }

  const Trial& trial_;
  const TensorIndex& index_;
  std::uint64_t most_bytes_;
  bool is_too_large_ = false;
};

HttpResponse as_json(const Trial& trial, const FoundTensor& found, const std::string& name,
                     const TensorValue* value) {
  JsonWriter json;
  json.begin_object();
  write_place(json, trial, *found.file, name);
  if (value != nullptr) {
    write_value(json, *value);
  } else {
    write_no_value(json, found.tensor);
  }
  json.end_object();
  HttpResponse response;
  response.body = json.take() + "\n";
  return response;
}

HttpResponse as_file(const TensorValue& value, ValueFormat format) {
  auto bytes = format == ValueFormat::npy ? to_npy(value) : to_png(value);
  if (!bytes) return error_response(400, bytes.error().message);
  HttpResponse response;
  response.content_type = format == ValueFormat::npy ? "application/octet-stream" : "image/png";
  response.body = std::move(*bytes);
  return response;
}

HttpResponse value_response(const Trial& trial, const TensorQuery& query, const FoundTensor& found,
                            std::uint64_t most_bytes) {
  if (!found.tensor.record) {
    if (query.format == ValueFormat::json && query.slice.empty())
      return as_json(trial, found, query.name, nullptr);
    return error_response(404, "the values of this tensor were not saved");
  }
  BoundedReader reader(trial, found.index, most_bytes);
  auto value = reader.read(*found.tensor.record);
  if (!value) return error_response(reader.status_of_failure(), value.error().message);
  if (!query.slice.empty()) {
    if (!reader.fits(*value, sizeof(double)))
      return error_response(413, reader.too_large().message);
    value = slice_tensor(*value, query.slice);
    if (!value) return error_response(400, value.error().message);
  }
  const std::uint64_t each = query.format == ValueFormat::json  ? kJsonNumber
                             : query.format == ValueFormat::npy ? npy_element_bytes(*value)
                                                                : 3;  // pixels, and compressed ones
  if (!reader.fits(*value, each)) return error_response(413, reader.too_large().message);
  if (query.format != ValueFormat::json) return as_file(*value, query.format);
  return as_json(trial, found, query.name, &*value);
}

Result<ReducedTensor> reduce_bounded(BoundedReader& reader, const SavedTensor& tensor,
                                     const std::string& reduction) {
  const auto saved = tensor.reductions.find(reduction);
  const bool is_saved = saved != tensor.reductions.end();
  if (!is_saved && !tensor.record) return Error{"neither it nor the values were saved"};
  const auto value = reader.read(is_saved ? saved->second : *tensor.record);
  if (!value) return value.error();
  // Only of a matrix a copy is made.
  if (!reader.fits(*value, reduction.ends_with("l2") ? sizeof(double) : 0))
    return reader.too_large();
  const auto number = is_saved ? single_number(*value) : reduce(*value, reduction);
  if (!number) return number.error();
  return ReducedTensor{*number, is_saved};
}

HttpResponse reduction_response(const Trial& trial, const TensorQuery& query,
                                const FoundTensor& found, std::uint64_t most_bytes) {
  BoundedReader reader(trial, found.index, most_bytes);
  const auto result = reduce_bounded(reader, found.tensor, query.reduction);
  if (!result) return error_response(reader.status_of_failure(), result.error().message);
  JsonWriter json;
  json.begin_object();
  write_place(json, trial, *found.file, query.name);
  write_reduction(json, query.reduction, result);
  json.end_object();
  HttpResponse response;
  response.body = json.take() + "\n";
  return response;
}

}  // namespace

HttpResponse step_not_available(std::int64_t step, StepState state) {
  const bool later = state == StepState::not_yet_available;
  JsonWriter json;
  json.begin_object().field("status", 404);
  json.field("error", "step " + std::to_string(step) +
                          (later ? " is not available yet" : " is not available"));
  json.field("state", to_string(state)).end_object();
  return {.status = 404, .body = json.take() + "\n", .headers = {}};
}

HttpResponse tensor_value_response(const Trial& trial, const TensorQuery& query,
                                   std::uint64_t most_bytes) {
  const TensorMode mode = query.mode.value_or(TensorMode::global);
  const StepState state = trial.state(mode, *query.step);
  const auto step = trial.global_step(mode, *query.step);
  if (state != StepState::available || !step) return step_not_available(*query.step, state);
  const auto found = find_tensor(trial, query, *step);
  if (!found)
    return error_response(404, "no worker that is meant has saved this tensor at the step");
  return query.reduction.empty() ? value_response(trial, query, *found, most_bytes)
                                 : reduction_response(trial, query, *found, most_bytes);
}

}  // namespace trainwatch
