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

// A series that a file spells in its own way, by the names that event_kind.h knows.
struct KnownSeries {
  std::string_view node{};       // empty: that of the file
  std::string_view type{};       // "gpu", "memory"
  std::string_view gpu{};        // its index, else what else names it; empty: it is of the node
  std::string_view dimension{};  // "GPUUtilization"
};
// What a sample needs. nullopt: there is no room for it.
struct SeriesOfSample {
  SeriesId id{};
  Resource resource = Resource::other;
};
std::optional<SeriesOfSample> intern_series(const FileContext& context, const KnownSeries& known);

class MetricSeries {
 public:
  // Raw tokens of JSON: type, name (may be absent, or null), dimension, node.
  using Tokens = std::array<std::string_view, 4>;

  // `context` must outlive the object.
  explicit MetricSeries(const FileContext& context) : context_(context) {}

  Rejection read(const Tokens& tokens, Series& series);
  // About how much memory it takes.
  std::size_t memory() const { return subjects_.size() * 64; }

 private:
  // nullopt: there is no room for it.
  std::optional<SubjectId> subject_of(Symbol node, Symbol gpu);

  const FileContext& context_;
  StringReader strings_;
  std::map<std::pair<Symbol, Symbol>, SubjectId> subjects_;  // by node and gpu
};

}  // namespace trainwatch
