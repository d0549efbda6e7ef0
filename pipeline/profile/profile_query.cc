#include "pipeline/profile/profile_query.h"

#include <tuple>

namespace trainwatch {
namespace {

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
