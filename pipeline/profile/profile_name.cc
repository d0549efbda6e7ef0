// SPDX-License-Identifier: Apache-2.0
#include "pipeline/profile/profile_name.h"

#include <array>
#include <cstddef>
#include <iterator>
#include <tuple>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/path_metadata.h"

namespace trainwatch {
namespace {

constexpr std::string_view kCprofileFile = "python_stats";
constexpr std::string_view kPyinstrumentFile = "python_stats.json";
constexpr std::int64_t kBeforeStepZero = -1;  // in older names

constexpr std::string_view kModes[] = {"unknown", "train",       "eval",         "predict",
                                       "global",  "prestepzero", "posthookclose"};
static_assert(std::size(kModes) == static_cast<std::size_t>(ProfileMode::count_));
constexpr std::string_view kPhases[] = {"start", "stepstart", "forwardpassend", "stepend", "end"};
static_assert(std::size(kPhases) == static_cast<std::size_t>(ProfilePhase::count_));

template <class Enum, std::size_t size>
std::optional<Enum> find(const std::string_view (&names)[size], std::string_view name) {
  for (std::size_t i = 0; i < size; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

// Exactly N parts; nullopt if there are more or fewer.
template <std::size_t N>
std::optional<std::array<std::string_view, N>> split(std::string_view text, char separator) {
  std::array<std::string_view, N> parts;
  for (std::size_t i = 0; i < N; ++i) {
    const std::size_t end = text.find(separator);
    if ((end == std::string_view::npos) != (i + 1 == N)) return std::nullopt;
    parts[i] = text.substr(0, end);
    text.remove_prefix(i + 1 == N ? text.size() : end + 1);
  }
  return parts;
}

// Removes the last name from the path.
std::string_view pop_name(std::string_view& path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::string_view name = base_name(path);
  path.remove_suffix(name.size());
  return name;
}

std::optional<Time> time_of(std::string_view microseconds) {
  const auto ns = parse_time_ns(microseconds, TimeUnit::microseconds);
  return ns && *ns >= 0 ? std::optional{time_from_ns(*ns)} : std::nullopt;
}

std::optional<ProfilePoint> parse_point(std::string_view text) {
  const auto parts = split<4>(text, '-');
  if (!parts) return std::nullopt;
  const auto& [mode_name, step_text, phase_name, time_text] = *parts;
  const auto mode = find<ProfileMode>(kModes, mode_name);
  const auto phase = find<ProfilePhase>(kPhases, phase_name);
  const auto at = time_of(time_text);
  if (!mode || mode == ProfileMode::unknown || !phase || !at) return std::nullopt;
  ProfilePoint point{*mode, std::nullopt, *phase, *at};
  if (step_text != "*") {
    point.step = parse_integer(step_text);
    if (!point.step || *point.step < 0) return std::nullopt;
  }
  return point;
}

void set_source(std::string_view writer, ProfileName& name) {
  NodeRank source = parse_writer(writer);
  name.node = std::move(source.node);
  name.rank = source.rank;
}

bool parse_older(std::string_view directory, ProfileName& name) {
  const auto parts = split<4>(directory, '_');
  if (!parts) return false;
  const auto start = time_of((*parts)[0]);
  const auto end = time_of((*parts)[1]);
  const auto step = parse_integer((*parts)[3]);
  if (!start || !end || !step || *step < kBeforeStepZero) return false;
  set_source((*parts)[2], name);
  if (*step == kBeforeStepZero) {
    name.start = {ProfileMode::pre_step_zero, std::nullopt, ProfilePhase::start, *start};
    name.end = {ProfileMode::unknown, 0, ProfilePhase::step_start, *end};
  } else {
    name.start = {ProfileMode::unknown, *step, ProfilePhase::step_start, *start};
    name.end = {ProfileMode::unknown, *step, ProfilePhase::step_end, *end};
  }
  return true;
}

bool is_before(const StepPoint& a, const StepPoint& b) {
  return std::tie(a.step, a.phase) < std::tie(b.step, b.phase);
}

bool lies_in(const ProfileName& name, const ProfileQuery::Steps& steps) {
  if (name.start.mode != name.end.mode || !name.start.step || !name.end.step) return false;
  return !is_before({*name.start.step, name.start.phase}, steps.first) &&
         !is_before(steps.last, {*name.end.step, name.end.phase});
}

bool overlaps(const ProfileName& name, const ProfileQuery::Interval& interval) {
  return name.start.at <= interval.end && name.end.at >= interval.start;
}

}  // namespace

std::string_view to_string(ProfileMode mode) {
  return kModes[static_cast<std::size_t>(mode)];
}

std::string_view to_string(ProfilePhase phase) {
  return kPhases[static_cast<std::size_t>(phase)];
}

bool is_profile_file(std::string_view file_name) {
  return file_name == kCprofileFile || file_name == kPyinstrumentFile;
}

std::optional<ProfileName> parse_profile_path(std::string_view path) {
  const std::string_view file = pop_name(path);
  if (!is_profile_file(file)) return std::nullopt;
  ProfileName name;
  if (file == kPyinstrumentFile) name.profiler = PythonProfiler::pyinstrument;
  const std::string_view directory = pop_name(path);
  if (!parse_older(directory, name)) {
    const auto ends = split<2>(directory, '_');
    const auto start = ends ? parse_point((*ends)[0]) : std::nullopt;
    const auto end = ends ? parse_point((*ends)[1]) : std::nullopt;
    if (!start || !end) return std::nullopt;
    name.start = *start;
    name.end = *end;
    set_source(pop_name(path), name);
  }
  pop_name(path);  // the directory of the profiler, which the file name already gave
  name.framework = pop_name(path);
  return name;
}

bool ProfileQuery::matches(const ProfileName& name) const {
  if (node && *node != name.node) return false;
  if (rank && *rank != name.rank) return false;
  if (modes && (modes->start != name.start.mode || modes->end != name.end.mode)) return false;
  if (interval && !overlaps(name, *interval)) return false;
  return !steps || lies_in(name, *steps);
}

bool is_before_step_zero(const ProfileName& name) {
  return name.start.mode == ProfileMode::pre_step_zero || name.start.phase == ProfilePhase::start;
}

bool is_after_hook_close(const ProfileName& name) {
  return name.end.mode == ProfileMode::post_hook_close || name.end.phase == ProfilePhase::end;
}

bool is_in_training_loop(const ProfileName& name) {
  return !is_before_step_zero(name) && !is_after_hook_close(name);
}

}  // namespace trainwatch
