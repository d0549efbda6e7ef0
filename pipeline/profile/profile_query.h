// Which profiles of a job are asked for. What is not set does not restrict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/profile/profile_name.h"
#include "trainwatch/time.h"

namespace trainwatch {

// A place among the steps of one mode.
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
  // Profiles that begin and end in it, both ends included. Every mode counts steps of its own, so a
  // profile from one mode into another is in no interval of steps.
  std::optional<Steps> steps;
  // Profiles that were being taken at some time in it.
  std::optional<Interval> interval;
  std::optional<Modes> modes;

  bool matches(const ProfileName& name) const;
};

// Parts of a job. A profile of a job without steps may be both before and after them.
bool is_before_step_zero(const ProfileName& name);
bool is_after_hook_close(const ProfileName& name);
bool is_in_training_loop(const ProfileName& name);

}  // namespace trainwatch
