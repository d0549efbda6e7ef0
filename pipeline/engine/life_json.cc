// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/life_json.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "pipeline/analysis/history/map_columns.h"
#include "pipeline/engine/alert_json.h"
#include "pipeline/engine/headline_text.h"

namespace trainwatch {
namespace {

double rounded(double seconds) {
  return std::round(seconds * 1e6) / 1e6;
}

template <class Number>
void write_known(JsonWriter& json, std::string_view name, const std::optional<Number>& number) {
  json.key(name);
  number ? json.value(*number) : json.null();
}

void write_number(JsonWriter& json, std::string_view name, std::int64_t number,
                  std::int64_t unknown) {
  json.key(name);
  number == unknown ? json.null() : json.value(number);
}

void write_text(JsonWriter& json, std::string_view name, const std::string& text) {
  json.key(name);
  text.empty() ? json.null() : json.value(text);
}

void write_end(JsonWriter& json, const std::optional<AttemptEnd>& end) {
  json.key("end");
  if (!end) {
    json.null();
    return;
  }
  json.begin_object().field("class", to_string(end->how.what));
  write_number(json, "rank", end->how.rank, kNoRank);
  write_text(json, "node", end->how.node);
  write_known(json, "signal", end->how.signal);
  write_known(json, "exit_code", end->how.exit_code);
  write_time(json, "at", end->at);
  write_text(json, "evidence", end->how.text);
  write_text(json, "file", end->how.file);
  json.end_object();
}

void write_attempt(JsonWriter& json, const AttemptInfo& attempt) {
  json.begin_object().field("number", attempt.number);
  write_time(json, "began_at", attempt.began);
  write_time(json, "ended_at", attempt.ended);
  write_number(json, "first_step", attempt.first_step, kNoStep);
  write_number(json, "last_step", attempt.last_step, kNoStep);
  write_number(json, "ranks", attempt.ranks, 0);
  write_end(json, attempt.end);
  json.end_object();
}

}  // namespace

void write_life(JsonWriter& json, const Life& life) {
  write_end(json, life.end);
  json.key("attempts").begin_array();
  for (const AttemptInfo& attempt : life.attempts) write_attempt(json, attempt);
  json.end_array();
  json.key("life").begin_object();
  write_time(json, "began_at", life.began_at);
  write_time(json, "until", life.until);
  json.field("wall_seconds", rounded(life.wall));
  json.field("gpu_seconds", rounded(life.rank_seconds));
  json.field("goodput", rounded(life.goodput()));
  json.field("steps", life.steps).field("redone_steps", life.redone_steps);
  json.field("steps_per_second", rounded(life.steps_per_second));
  write_known(json, "eta_seconds", life.eta_seconds);
  write_number(json, "total_steps", life.total_steps, 0);
  json.field("open_seconds", rounded(life.open.total()));
  json.key("seconds").begin_object();
  for (std::size_t i = 0; i < kLifeParts; ++i) {
    const auto part = static_cast<LifePart>(i);
    if (rounded(life.parts[part]) > 0) json.field(to_string(part), rounded(life.parts[part]));
  }
  json.end_object().end_object();
}

std::string wall_time_json(const std::string& job, const RunLedger& run, const Life& life,
                           const ChartRange& range) {
  const ColumnChart<PartSeconds> chart = run.wall_time(life, range);
  const MapColumns columns(chart);
  JsonWriter json;
  json.begin_object();
  columns.write_head(json, job, "wall_time");
  json.key("rows").begin_array();
  for (std::size_t i = 0; i < kLifeParts; ++i) {
    const auto part = static_cast<LifePart>(i);
    const auto value_of = [part](const PartSeconds& column) {
      return std::optional(rounded(column[part]));
    };
    const bool has = std::ranges::any_of(
        chart.columns, [&](const auto& column) { return *value_of(column.second) > 0; });
    if (!has) continue;
    json.begin_object().field("part", to_string(part));
    columns.write_row(json, "values", value_of);
    json.end_object();
  }
  return json.end_array().end_object().take();
}

std::string life_words(const Life& life) {
  std::vector<LifePart> parts;
  for (std::size_t i = 0; i < kLifeParts; ++i) parts.push_back(static_cast<LifePart>(i));
  std::ranges::stable_sort(parts, std::ranges::greater(),
                           [&life](LifePart part) { return life.parts[part]; });
  std::string text = duration_words(from_seconds(life.wall)) + " of wall time";
  const char* separator = ": ";
  for (const LifePart part : parts) {
    const double share = life.wall > 0 ? life.parts[part] / life.wall : 0;
    if (share < 0.005) break;
    text += separator + share_words(share) + " " + std::string(to_string(part));
    separator = ", ";
  }
  return text + ".";
}

}  // namespace trainwatch
