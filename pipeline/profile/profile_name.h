// SPDX-License-Identifier: Apache-2.0
// What the path of a Python profile says: who was profiled, and from which point in the job to
// which.
//   <framework>/<cprofile|pyinstrument>/<node>/<start>_<end>/python_stats[.json]
// <start> and <end> are <mode>-<step|*>-<phase>-<us>, "train-5-stepstart-1596585375000000.5".
// Older versions of smdebug name the last directory <start_us>_<end_us>_<node>_<step>, with step -1
// for everything before step zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwatch/subject.h"
#include "trainwatch/time.h"

namespace trainwatch {

// By file name: python_stats is cProfile's, python_stats.json pyinstrument's.
enum class PythonProfiler : std::uint8_t { cprofile, pyinstrument };

enum class ProfileMode : std::uint8_t {
  unknown,  // the older names do not say
  train,
  eval,
  predict,
  global,
  pre_step_zero,
  post_hook_close,
  count_,
};

// In the order in which they occur in a step.
enum class ProfilePhase : std::uint8_t {
  start,
  step_start,
  forward_pass_end,
  step_end,
  end,
  count_
};

// As in file names: "prestepzero", "forwardpassend".
std::string_view to_string(ProfileMode mode);
std::string_view to_string(ProfilePhase phase);

struct ProfilePoint {
  ProfileMode mode = ProfileMode::unknown;
  std::optional<std::int64_t> step;  // none: before the first step, or after the last
  ProfilePhase phase = ProfilePhase::start;
  Time at = kNoTime;
};

struct ProfileName {
  PythonProfiler profiler = PythonProfiler::cprofile;
  std::string framework;  // empty: not known
  std::string node;
  std::int32_t rank = kNoRank;
  ProfilePoint start;
  ProfilePoint end;
};

// True if a file of this name is a Python profile.
bool is_profile_file(std::string_view file_name);

// nullopt: the file is not a Python profile, or its directory is not named as above.
std::optional<ProfileName> parse_profile_path(std::string_view path);

// Selects profiles of a job. Fields that are not set do not restrict.

// A position among the steps of one mode.
struct StepPoint {
  std::int64_t step = 0;
  ProfilePhase phase = ProfilePhase::step_start;
};

struct ProfileQuery {
  struct Steps {
    StepPoint first;
    StepPoint last;
  };
  struct Interval {
    Time start;
    Time end;
  };
  struct Modes {
    ProfileMode start = ProfileMode::train;
    ProfileMode end = ProfileMode::train;
  };

  std::optional<std::string> node;
  std::optional<std::int32_t> rank;
  // Profiles that begin and end in it, both ends included. Each mode counts its own steps, so a
  // profile from one mode into another is in no interval of steps.
  std::optional<Steps> steps;
  // Profiles whose recording overlaps it.
  std::optional<Interval> interval;
  std::optional<Modes> modes;

  bool matches(const ProfileName& name) const;
};

// Parts of a job. A profile of a job without steps may be in both of the first two.
bool is_before_step_zero(const ProfileName& name);
bool is_after_hook_close(const ProfileName& name);
bool is_in_training_loop(const ProfileName& name);

}  // namespace trainwatch
