// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/work_stages.h"

#include <algorithm>
#include <cmath>

namespace trainwatch {
namespace {

constexpr std::size_t kMostFigures = 4;
constexpr std::uint32_t kConstant = 8;  // records that make a stage
constexpr std::uint32_t kSure = 3;  // records confirm the next; the last batch of an epoch is one
constexpr double kSame = 0.02;      // of the value
constexpr double kMostRatio = 1e3;  // or its inverse

bool is_size(const Scalar& scalar) {
  const bool kind = scalar.kind == ScalarKind::step_size || scalar.kind == ScalarKind::step_tokens;
  return kind && scalar.value > 0 && scalar.value <= 1e18;
}

bool is_same(double a, double b) {
  return std::fabs(a - b) <= kSame * b;
}

}  // namespace

bool WorkStages::on(const Scalar& scalar) {
  if (!is_size(scalar)) return false;
  Figure* const figure = figure_of(scalar.tag);
  if (figure == nullptr) return false;
  const WorkChange before = change_;
  change_ = {.begins = is_new(*figure, scalar.value, scalar.at)};
  for (const Figure& each : figures_) {
    if (each.other > 0) change_.ratio *= each.other / each.value;
  }
  change_.before = figure->same_at;
  change_.first = figure->other_at;
  change_.ratio = std::clamp(change_.ratio, 1 / kMostRatio, kMostRatio);
  return change_.begins || change_.ratio != before.ratio;
}

// Returns whether the figure has changed for good.
bool WorkStages::is_new(Figure& figure, double value, Time at) {
  if (figure.same == 0 || is_same(value, figure.value)) {
    if (figure.same == 0) figure.value = value;
    figure.same = std::min(figure.same + 1, kConstant);
    figure.other = 0;
    figure.others = 0;
    figure.same_at = std::max(figure.same_at, at);
    return false;
  }
  if (figure.same < kConstant) {  // it varies from record to record
    figure.value = value;
    figure.same = 1;
    figure.same_at = at;
    return false;
  }
  const bool again = figure.other > 0 && is_same(value, figure.other);
  figure.others = again ? figure.others + 1 : 1;
  if (!again) figure.other_at = at;
  figure.other = value;
  if (figure.others < kSure) return false;
  figure.value = value;
  figure.same = kConstant;
  figure.other = 0;
  figure.others = 0;
  return true;
}

WorkStages::Figure* WorkStages::figure_of(Symbol tag) {
  const auto known = std::ranges::find(figures_, tag, &Figure::tag);
  if (known != figures_.end()) return &*known;
  if (figures_.size() == kMostFigures) return nullptr;
  figures_.push_back({.tag = tag});
  return &figures_.back();
}

void WorkStages::Figure::state(StateIo& io) {
  io(tag);
  io(value);
  io(same);
  io(same_at);
  io(other);
  io(others);
  io(other_at);
  if (!is_possible(same_at) || !is_possible(other_at)) io.fail();
  if (!(value >= 0) || !(other >= 0) || (same > 0 && value == 0)) io.fail();
}

void WorkStages::state(StateIo& io) {
  io(figures_);
  io(change_.ratio);
  if (figures_.size() > kMostFigures || !(change_.ratio > 0)) io.fail();
}

}  // namespace trainwatch
