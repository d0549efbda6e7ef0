// SPDX-License-Identifier: Apache-2.0
// The series that a system metric belongs to.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "pipeline/decode/format.h"
#include "pipeline/decode/json_cursor.h"
#include "trainwatch/series.h"

namespace trainwatch {

class MetricSeries {
 public:
  // Raw tokens of JSON: type, name (may be absent, or null), dimension, node.
  using Tokens = std::array<std::string_view, 4>;

  // `context` must outlive the object.
  explicit MetricSeries(const FileContext& context) : context_(context) {}

  Rejection read(const Tokens& tokens, Series& series);

 private:
  // nullopt: there is no room for it.
  std::optional<SubjectId> subject_of(Symbol node, Symbol gpu);

  const FileContext& context_;
  StringReader strings_;
  std::map<std::pair<Symbol, Symbol>, SubjectId> subjects_;  // by node and gpu
};

}  // namespace trainwatch
