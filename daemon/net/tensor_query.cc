// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/tensor_query.h"

#include <limits>

#include "daemon/net/url.h"
#include "pipeline/tensors/tensor_reduction.h"

namespace trainwatch {
namespace {

bool take_step(TensorQuery& query, const std::string& value) {
  const auto number = parse_unsigned(value);
  if (!number || *number > std::numeric_limits<std::int64_t>::max()) return false;
  query.step = static_cast<std::int64_t>(*number);
  return true;
}

bool take_format(TensorQuery& query, std::string_view value) {
  using Format = TensorQuery::Format;
  query.format = value == "npy" ? Format::npy : value == "png" ? Format::png : Format::json;
  return query.format != Format::json || value == "json";
}

bool take_of_value(TensorQuery& query, const std::string& name, const std::string& value) {
  if (name == "format") return take_format(query, value);
  if (name == "reduction") query.reduction = value;
  if (name == "reduction") return is_reduction(value);
  if (name == "name") query.name = value;
  if (name == "worker") query.worker = value;
  if (name == "slice") query.slice = value;
  return name == "name" || name == "worker" || name == "slice";
}

bool take_of_list(TensorQuery& query, const std::string& name, const std::string& value) {
  if (name == "collection") query.collection = value;
  if (name == "regex") query.regex = value;
  return name == "collection" || name == "regex";
}

bool take_tensor_parameter(TensorQuery& query, const std::string& name, const std::string& value) {
  if (name == "mode") query.mode = parse_tensor_mode(value);
  if (name == "mode") return query.mode.has_value();
  if (name == "step") return take_step(query, value);
  if (name == "trial") query.trial = value;
  if (name == "root") query.root = value;
  if (name == "trial" || name == "root") return true;
  return query.value ? take_of_value(query, name, value) : take_of_list(query, name, value);
}

}  // namespace

Result<TensorQuery> parse_tensor_query(std::string_view path, std::string_view text) {
  const auto parameters = parse_query(text);
  if (!parameters) return parameters.error();
  TensorQuery query;
  query.value = path == kTensorValuePath;
  for (const auto& [name, value] : *parameters) {
    if (!take_tensor_parameter(query, name, value)) return invalid_parameter(name);
  }
  if (!query.value) return query;
  if (query.name.empty()) return Error{"'name' is missing"};
  if (!query.step) return Error{"'step' is missing"};
  if (!query.reduction.empty() &&
      (!query.slice.empty() || query.format != TensorQuery::Format::json))
    return Error{"a reduction has neither 'slice' nor another 'format' than json"};
  return query;
}

}  // namespace trainwatch
