#include "daemon/app/commit_health.h"

namespace trainwatch {
namespace {

// Commits are tried once a second, so this is one less than the longest wait.
constexpr auto kPatience = std::chrono::seconds(4);

}  // namespace

void CommitHealth::succeeded(Clock::duration took) {
  durations_.observe(std::chrono::duration<double>(took).count());
  failure_.clear();
}

bool CommitHealth::failed(Clock::time_point now, const std::string& what) {
  if (failure_.empty()) failing_since_ = now;
  ++failures_;
  const bool news = failure_ != what;
  failure_ = what.empty() ? "unknown" : what;
  return news;
}

bool CommitHealth::provisional_due(Clock::time_point now) const {
  return degraded() && now - failing_since_ >= kPatience;
}

void CommitHealth::collect(const StateStore& store, std::vector<MetricFamily>& out) const {
  MetricFamily durations{"trainwatch_state_commit_seconds",
                         "Time to make state and alerts durable.",
                         MetricType::histogram,
                         {Histogram::kBounds.begin(), Histogram::kBounds.end()},
                         {}};
  durations.points.push_back(durations_.point({}));
  out.push_back(std::move(durations));
  const auto add = [&out](const char* name, const char* help, MetricType type, double value) {
    out.push_back({name, help, type, {}, {{{}, value, {}, 0}}});
  };
  add("trainwatch_state_commit_failures_total", "Failed commits; each is retried.",
      MetricType::counter, static_cast<double>(failures_));
  add("trainwatch_state_degraded", "1 while state and alerts cannot be stored.", MetricType::gauge,
      degraded() ? 1 : 0);
  add("trainwatch_outbox_depth", "Alerts stored for clients to resume from.", MetricType::gauge,
      static_cast<double>(store.last_seq() + 1 - store.first_seq()));
}

}  // namespace trainwatch
