// SPDX-License-Identifier: Apache-2.0
// What the engine thread publishes about once a second: plain immutable data, rendered by the net
// thread as /metrics, /api/v1/status and the live page.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainwatch/alert.h"
#include "trainwatch/event.h"
#include "trainwatch/labels.h"
#include "trainwatch/time.h"

namespace trainwatch {

enum class MetricType : std::uint8_t { counter, gauge, histogram };

// How many values fell into one bucket of the family and one of the native histogram.
struct HistogramCell {
  std::uint64_t count = 0;
  std::int16_t native = 0;   // see stats/exponential_buckets.h; kZero: zero
  std::uint16_t bucket = 0;  // index of its upper bound; that behind the last is +Inf
};

// An observation, or an alert, that stands for what was counted with it.
struct Exemplar {
  double value = 0;
  Time at = kNoTime;
  std::int64_t step = kNoStep;
  std::string alert;  // its id; empty: none speaks of it
};

struct MetricDetails {
  std::vector<HistogramCell> cells;  // ascending by value
  std::vector<Exemplar> exemplars;   // of a histogram by value; of a counter at most one
  std::int8_t schema = 0;            // of `native`
};

// One series of a family. Counters and gauges use `value`; histograms `details` and `sum`.
struct MetricPoint {
  Labels labels;
  double value = 0;
  std::shared_ptr<const MetricDetails> details;  // null: none
  double sum = 0;
};

struct MetricFamily {
  std::string name;  // full, "trainwatch_steps_total"
  std::string help;
  MetricType type = MetricType::gauge;
  std::vector<double> bounds;  // histogram upper bounds, without +Inf
  std::vector<MetricPoint> points;
  // The bounds are those of the native histogram at schema 4, from this bucket on. A series of a
  // lower schema has only those that its schema has, too.
  std::optional<std::int16_t> first_native{};
};

using MetricFamilies = std::vector<MetricFamily>;

struct Snapshot {
  Time taken = kNoTime;    // processing time
  bool ready = false;      // the first scan is done and its bytes are processed
  double lag_seconds = 0;  // oldest unread input, for heartbeats
  // About the jobs: those of the snapshot before if nothing has come since. Null: none.
  std::shared_ptr<const MetricFamilies> job_metrics;
  MetricFamilies metrics;  // about trainwatch
  std::size_t alerts_firing = 0;
  std::string status_json;  // the body of /api/v1/status
  std::string runs_json;    // the body of /api/v1/runs
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
  std::string json;   // to_json(), with its number and epoch
  bool part = false;  // another alert speaks for it, and it never spoke for itself
};

}  // namespace trainwatch
