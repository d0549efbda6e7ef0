// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/history/scalar_history.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace trainwatch {
namespace {

constexpr std::size_t kMostLeftOut = 1000;
constexpr std::size_t kFewestPoints = 16;  // points of a series, however many there are

// What is stored of a series beside its points.
struct CurveHead {
  SubjectId subject = SubjectId::none;
  Symbol tag = Symbol::none;
  ScalarKind kind = ScalarKind::other;
};

std::string curve_prefix(const std::string& prefix, std::size_t place) {
  return prefix + std::to_string(place) + "/";
}

}  // namespace

std::string_view unit_of(ScalarKind kind) {
  switch (kind) {
    case ScalarKind::step_seconds:
    case ScalarKind::data_seconds:
      return "seconds";
    case ScalarKind::tokens_per_second:
      return "tokens per second";
    case ScalarKind::samples_per_second:
      return "samples per second";
    case ScalarKind::steps_per_second:
      return "steps per second";
    case ScalarKind::tflops_per_gpu:
      return "teraflops";
    case ScalarKind::mfu_ratio:
      return "ratio";
    case ScalarKind::memory_bytes:
      return "bytes";
    default:
      return "";
  }
}

// The kinds are declared in this order, but for the one without meaning.
bool ScalarHistory::precedes(ScalarKind a, ScalarKind b) {
  return a != b && a != ScalarKind::other && (b == ScalarKind::other || a < b);
}

void ScalarHistory::on(const Scalar& scalar) {
  if (scalar.at < Time{}) return;
  Series* const series = series_of(scalar);
  if (series == nullptr) return;
  latest_ = std::max(latest_, scalar.at);
  series->curve.add({std::max(scalar.step, kNoStep), scalar.at, scalar.value}, most_each());
}

ScalarHistory::Series* ScalarHistory::series_of(const Scalar& scalar) {
  const auto known = std::ranges::find_if(series_, [&](const Series& series) {
    return series.tag == scalar.tag && series.subject == scalar.subject;
  });
  if (known != series_.end()) return &*known;
  if (series_.size() < kMostSeries) {
    heads_changed_ = true;
    series_.push_back({scalar.subject, scalar.tag, scalar.kind});
    thin();
    return &series_.back();
  }
  // The newest of those that say least.
  const auto least = std::ranges::min_element(
      series_.rbegin(), series_.rend(),
      [](const Series& a, const Series& b) { return precedes(b.kind, a.kind); });
  if (!precedes(scalar.kind, least->kind)) {
    leave_out(scalar.subject, scalar.tag);
    return nullptr;
  }
  leave_out(least->subject, least->tag);
  heads_changed_ = true;
  least->subject = scalar.subject;
  least->tag = scalar.tag;
  least->kind = scalar.kind;
  least->curve.clear();
  return &*least;
}

void ScalarHistory::leave_out(SubjectId subject, Symbol tag) {
  if (left_out_.size() < kMostLeftOut && left_out_.emplace(subject, tag).second) ++dropped_;
}

void ScalarHistory::keep(std::size_t points) {
  if (points == points_) return;
  points_ = points;
  thin();
}

// The number of series is rounded up, so that it rarely changes.
std::size_t ScalarHistory::most_each() const {
  return std::clamp(points_ / std::bit_ceil(std::max<std::size_t>(series_.size(), 1)),
                    kFewestPoints, kMostPoints);
}

void ScalarHistory::thin() {
  for (Series& series : series_) series.curve.keep(most_each());
}

void ScalarHistory::save(StateRows& rows, const std::string& prefix, bool all) {
  if (heads_changed_ || all) {
    rows.put(prefix + "heads", [this](StateIo& io) {
      std::vector<std::optional<CurveHead>> heads;
      for (const Series& series : series_)
        heads.emplace_back(CurveHead{series.subject, series.tag, series.kind});
      io(heads);
    });
  }
  heads_changed_ = false;
  rows.put(prefix + "totals", [this](StateIo& io) { totals_state(io); });
  for (std::size_t i = 0; i < series_.size(); ++i)
    series_[i].curve.save(rows, curve_prefix(prefix, i), all);
}

void ScalarHistory::remove(StateRows& rows, const std::string& prefix) {
  rows.remove(prefix + "heads");
  rows.remove(prefix + "totals");
  for (std::size_t i = 0; i < series_.size(); ++i)
    series_[i].curve.remove(rows, curve_prefix(prefix, i));
}

bool ScalarHistory::load(const SavedState& saved, const std::string& prefix) {
  std::vector<std::optional<CurveHead>> heads;
  const bool known = load_row(saved, prefix + "heads", [&heads](StateIo& io) { io(heads); }) &&
                     load_row(saved, prefix + "totals", [this](StateIo& io) { totals_state(io); });
  if (!known || heads.size() > kMostSeries) return false;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (!heads[i]) continue;
    if (heads[i]->kind >= ScalarKind::count_) return false;
    Series& series = series_.emplace_back(Series{heads[i]->subject, heads[i]->tag, heads[i]->kind});
    if (!series.curve.load(saved, curve_prefix(prefix, i), kMostPoints)) return false;
  }
  heads_changed_ = false;
  return true;
}

void ScalarHistory::totals_state(StateIo& io) {
  io(points_);
  io(latest_);
  io(dropped_);
  if (points_ == 0 || !is_possible(latest_)) io.fail();
}

}  // namespace trainwatch
