// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/history/scalar_json.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "pipeline/analysis/table_cells.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

std::vector<const ScalarHistory::Series*> chosen_series(const ScalarHistory& scalars,
                                                        const Interner& interner,
                                                        const ScalarChoice& choice) {
  std::vector<const ScalarHistory::Series*> chosen;
  for (const ScalarHistory::Series& series : scalars.series()) {
    const auto has_tag = [&](const std::string& tag) { return interner.text(series.tag) == tag; };
    if (choice.tags.empty() || std::ranges::any_of(choice.tags, has_tag)) chosen.push_back(&series);
  }
  std::ranges::sort(chosen, [&](const auto* a, const auto* b) {
    if (a->kind != b->kind) return ScalarHistory::precedes(a->kind, b->kind);
    const std::int32_t rank_a = interner.subjects[a->subject].rank;
    const std::int32_t rank_b = interner.subjects[b->subject].rank;
    if (rank_a != rank_b) return rank_a < rank_b;
    return interner.text(a->tag) < interner.text(b->tag);
  });
  return chosen;
}

void write_scalar(JsonWriter& json, double value) {
  if (std::isfinite(value)) {
    json.value(value);
  } else {
    json.value(std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
  }
}

void write_curve(JsonWriter& json, const ScalarPoints& curve, std::size_t last) {
  const std::vector<ScalarPoint>& points = curve.points();
  const std::size_t first = points.size() - std::min(last, points.size());
  json.key("attempts").begin_array();
  for (const std::size_t restart : curve.restarts()) {
    if (restart >= first) json.value(restart - first);
  }
  json.end_array().key("points").begin_array();
  for (std::size_t i = first; i < points.size(); ++i) {
    json.begin_array();
    points[i].step == kNoStep ? json.null() : json.value(points[i].step);
    json.value(to_us(points[i].at));
    write_scalar(json, points[i].value);
    json.end_array();
  }
  json.end_array();
}

}  // namespace

std::string scalars_json(const std::string& name, const ScalarHistory& scalars,
                         const Interner& interner, const ScalarChoice& choice) {
  JsonWriter json;
  json.begin_object().field("job", name).key("columns").begin_array();
  for (const char* column : {"step", "t_us", "value"}) json.value(column);
  json.end_array().key("series").begin_array();
  for (const auto* series : chosen_series(scalars, interner, choice)) {
    const Subject& subject = interner.subjects[series->subject];
    json.begin_object().field("job", name).key("rank");
    subject.rank == kNoRank ? json.null() : json.value(subject.rank);
    json.field("tag", interner.text(series->tag)).field("kind", to_string(series->kind));
    json.field("unit", unit_of(series->kind));
    if (series->curve.points().size() > choice.points) {
      ScalarPoints fewer = series->curve;
      fewer.keep(choice.points);
      write_curve(json, fewer, choice.last);
    } else {
      write_curve(json, series->curve, choice.last);
    }
    json.end_object();
  }
  return json.end_array().end_object().take();
}

}  // namespace trainwatch
