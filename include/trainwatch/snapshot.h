// What the engine thread publishes about once a second: plain immutable data, rendered by the net
// thread as /metrics, /api/v1/status and the live page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainwatch/alert.h"
#include "trainwatch/labels.h"
#include "trainwatch/time.h"

namespace trainwatch {

enum class MetricType : std::uint8_t { counter, gauge, histogram };

// One series of a family. Counters and gauges use `value`; histograms the other three.
struct MetricPoint {
  Labels labels;
  double value = 0;
  std::vector<std::uint64_t> cumulative;  // per bound of the family, then +Inf
  double sum = 0;
};

struct MetricFamily {
  std::string name;  // full, "trainwatch_steps_total"
  std::string help;
  MetricType type = MetricType::gauge;
  std::vector<double> bounds;  // histogram upper bounds, without +Inf
  std::vector<MetricPoint> points;
};

struct Snapshot {
  Time taken = kNoTime;    // processing time
  bool ready = false;      // the first scan is done and its bytes are processed
  double lag_seconds = 0;  // oldest unread input, for heartbeats
  std::vector<MetricFamily> metrics;
  std::vector<Alert> active;  // firing now, oldest first
  std::string status_json;    // the body of /api/v1/status
  std::string runs_json;      // the body of /api/v1/runs
  // Training steps that have ended since the last snapshot: {"steps":[…]}, as the stream sends
  // them.
  std::string steps_json;
  std::size_t steps = 0;            // how many it contains
  std::uint64_t steps_dropped = 0;  // older ones that it leaves out
};

// An alert that is committed and may be seen by clients.
struct PublishedAlert {
  std::uint64_t seq = 0;
  std::string id;
  std::string rule;
  Severity severity = Severity::info;  // the highest that the alert has reached: who heard of it
                                       // hears how it ends
  Alert::State state = Alert::State::firing;
  std::string json;   // to_json(alert, epoch)
  bool part = false;  // another alert speaks for it, and it never spoke for itself
};

}  // namespace trainwatch
