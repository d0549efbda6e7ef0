// SPDX-License-Identifier: Apache-2.0
// Alerts of trainwatch about itself, rules "_self/...": it cannot read, it lags, it rejects
// records, it cannot store. They are published like all alerts, but begin and end in processing
// time. One alert per condition and source: it ends when its condition has been absent for a
// minute, and the next one starts at least ten minutes after the last.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/engine/source_health.h"
#include "trainwatch/alert.h"
#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

// A condition that holds now.
struct SelfCondition {
  std::string_view kind;  // "lagging": the rule is "_self/lagging"
  std::string source;     // empty: trainwatch as a whole
  Severity severity = Severity::warning;
  double value = 0;
  std::string_view unit;
  std::string summary;
  std::string_view next;
};

// The conditions of the sources.
std::vector<SelfCondition> conditions_of(const SourceHealthTracker& tracker);

// All of them in one sentence for a person, the worst first; empty: there are none. What costs only
// a little delay (info) is none.
std::string monitor_sentence(const std::vector<SelfCondition>& conditions);

class SelfAlerts {
 public:
  static constexpr Nanos kGone = std::chrono::minutes(1);
  static constexpr Nanos kPause = std::chrono::minutes(10);

  // `conditions` are all that hold now. Returns the alerts that began or ended.
  std::vector<Alert> update(Time now, const std::vector<SelfCondition>& conditions);

  void state(StateIo& io) { io(open_); }

 private:
  struct Open {
    bool firing = false;
    Time last_seen{};
    Alert alert;
  };
  std::map<std::pair<std::string, std::string>, Open> open_;  // by kind and source
};

}  // namespace trainwatch
