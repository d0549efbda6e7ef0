// SPDX-License-Identifier: Apache-2.0
// The requests for what trials of SageMaker Debugger have saved: GET /api/v1/tensors and
// /api/v1/tensors/value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/tensors/tensor_index.h"
#include "trainwatch/result.h"

namespace trainwatch {

struct TensorQuery {
  enum class Format : std::uint8_t { json, npy, png };

  bool value = false;                  // of one tensor; else what there is
  std::optional<std::string> trial{};  // its path below its root, "." for the root itself
  std::optional<std::string> root{};   // the name of a watched path
  std::optional<TensorMode> mode{};    // of the step; nullopt: a global step
  std::optional<std::int64_t> step{};
  // Of what there is:
  std::optional<std::string> collection{};
  std::optional<std::string> regex{};
  // Of a value:
  std::string name{};
  std::optional<std::string> worker{};
  std::string reduction{};  // empty: the values
  std::string slice{};
  Format format = Format::json;
};

inline constexpr std::string_view kTensorsPath = "/api/v1/tensors";
inline constexpr std::string_view kTensorValuePath = "/api/v1/tensors/value";

// What `path` and the query after it ask for. The error says which parameter is wrong or missing.
Result<TensorQuery> parse_tensor_query(std::string_view path, std::string_view query);

}  // namespace trainwatch
