// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/guessed_format.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pipeline/decode/scalar_tags.h"

namespace trainwatch {
namespace {

bool is_of_training(std::string_view name) {
  switch (meaning_of_tag(name, {}).kind) {
    case ScalarKind::other:
      return is_metric_name(name);
    case ScalarKind::epoch:
    case ScalarKind::total_steps:
    case ScalarKind::elapsed_seconds:
    case ScalarKind::memory_bytes:
      return false;
    default:
      return true;
  }
}

// Of several counters the finest, and of equal ones the first.
std::string_view counter_of(std::span<const std::string_view> names) {
  std::string_view best;
  CounterKind kind = CounterKind::none;
  for (const std::string_view name : names) {
    const CounterKind found = counter_of_name(name);
    if (found > kind) {
      best = name;
      kind = found;
    }
  }
  return best;
}

std::string_view time_of(std::span<const std::string_view> names) {
  constexpr std::array<std::string_view, 14> kTimes = {
      "timestamp", "_timestamp", "@timestamp", "ts",   "wall_time", "Wall time", "datetime",
      "date_time", "asctime",    "created",    "date", "time",      "Timestamp", "Time"};
  for (const std::string_view time : kTimes) {
    if (std::ranges::find(names, time) != names.end()) return time;
  }
  return {};
}

}  // namespace

std::optional<FormatDeclaration> guess_format(DeclaredKind kind,
                                              std::span<const std::string_view> names) {
  const std::string_view counter = counter_of(names);
  if (counter.empty() || std::ranges::none_of(names, is_of_training)) return std::nullopt;
  return guessed_format(kind, std::string(counter), std::string(time_of(names)));
}

FormatDeclaration guessed_format(DeclaredKind kind, std::string step, std::string time) {
  FormatDeclaration format;
  format.name = kind == DeclaredKind::json ? "guessed_json" : "guessed_csv";
  format.kind = kind;
  format.has = {step};
  format.step = std::move(step);
  format.time = std::move(time);
  format.others = true;
  format.guessed = true;
  return format;
}

}  // namespace trainwatch
