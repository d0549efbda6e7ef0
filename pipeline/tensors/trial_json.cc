// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/trial_json.h"

#include <array>
#include <cmath>
#include <type_traits>
#include <variant>
#include <vector>

namespace trainwatch {
namespace {

constexpr std::array kModes = {TensorMode::global, TensorMode::train, TensorMode::eval,
                               TensorMode::predict};

template <class List>
void write_list(JsonWriter& json, const List& list) {
  json.begin_array();
  for (const auto& each : list) {
    if constexpr (std::is_same_v<typename List::value_type, double>) {
      write_number(json, each);
    } else {
      json.value(each);
    }
  }
  json.end_array();
}

}  // namespace

std::string_view to_string(StepState state) {
  switch (state) {
    case StepState::available:
      return "available";
    case StepState::unavailable:
      return "unavailable";
    case StepState::not_yet_available:
      break;
  }
  return "not_yet_available";
}

// As Python prints them.
void write_number(JsonWriter& json, double number) {
  if (std::isfinite(number)) {
    json.value(number);
  } else {
    json.value(std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
  }
}

void write_trial(JsonWriter& json, const Trial& trial, const TensorFilter& filter,
                 std::optional<TensorMode> mode) {
  const auto collections = trial.collections();
  json.key("workers");
  write_list(json, trial.workers());
  json.key("steps").begin_object();
  for (const TensorMode each : kModes) {
    if (mode && each != *mode) continue;
    const auto steps = trial.steps(each);
    if (steps.empty() && each != TensorMode::global && !mode) continue;
    json.key(to_string(each));
    write_list(json, steps);
  }
  json.end_object().key("names").begin_array();
  for (const std::string& name : trial.names()) {
    if (filter.wants(name, collections)) json.value(name);
  }
  json.end_array().key("collections").begin_object();
  for (const auto& [name, tensors] : collections) {
    if (!filter.wants_collection(name)) continue;
    json.key(name);
    write_list(json, tensors);
  }
  json.end_object().key("last_complete_step");
  if (trial.last_complete_step() < 0) {
    json.null();
  } else {
    json.value(trial.last_complete_step());
  }
  json.field("loaded_all_steps", trial.loaded_all_steps());
}

void write_place(JsonWriter& json, const Trial& trial, const Trial::IndexFile& file,
                 const std::string& name) {
  const ModeStep at = trial.mode_step(file.step);
  json.field("name", name).field("step", file.step).field("mode", to_string(at.mode));
  json.field("mode_step", at.step).field("worker", file.worker);
}

void write_value(JsonWriter& json, const TensorValue& value) {
  json.field("dtype", value.dtype).key("shape");
  write_list(json, value.shape);
  json.key("values");
  std::visit([&](const auto& values) { write_list(json, values); }, value.values);
  if (value.imaginary.empty()) return;
  json.key("imaginary");
  write_list(json, value.imaginary);
}

void write_no_value(JsonWriter& json, const SavedTensor& tensor) {
  json.key("dtype").null().key("shape");
  if (tensor.shape) {
    write_list(json, *tensor.shape);
  } else {
    json.null();
  }
  json.key("values").null();
}

void write_reduction(JsonWriter& json, const std::string& reduction,
                     const Result<ReducedTensor>& reduced) {
  json.field("reduction", reduction).key("value");
  if (!reduced) {
    json.null().field("error", reduced.error().message);
    return;
  }
  write_number(json, reduced->value);
  json.field("computed", !reduced->saved);
}

}  // namespace trainwatch
