#include "daemon/app/daemon_clock.h"

namespace trainwatch {
namespace {

// Less is a clock being slewed, or a thread that had to wait between two readings.
constexpr Nanos kJump = std::chrono::seconds(2);

}  // namespace

void DaemonClock::compare(Steady steady, Time wall) {
  const Nanos offset = wall - at(steady);
  const Nanos moved = offset - offset_;
  if (moved >= kJump) ++forward_;
  if (moved <= -kJump) ++back_;
  offset_ = offset;
}

void DaemonClock::collect(std::vector<MetricFamily>& out) const {
  MetricFamily jumps{"trainwatch_clock_jump_total",
                     "How often the host's clock was set by more than 2 s.",
                     MetricType::counter,
                     {},
                     {}};
  jumps.points.push_back({{{"direction", "forward"}}, static_cast<double>(forward_), {}, 0});
  jumps.points.push_back({{{"direction", "back"}}, static_cast<double>(back_), {}, 0});
  out.push_back(std::move(jumps));
}

Time wall_clock() {
  return std::chrono::time_point_cast<Nanos>(std::chrono::system_clock::now());
}

}  // namespace trainwatch
