// Alerts of trainwatch about itself, rules "_self/...": it cannot read, it is behind, it throws
// records away, it cannot store. They go the way of all alerts, but begin and end in processing
// time. One alert per condition and source, not a flood: an alert ends when its condition has been
// gone for a minute, and the next one of its kind comes ten minutes after the last at the earliest.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/engine/source_watch.h"
#include "trainwatch/alert.h"
#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

// Something that is the case now.
struct SelfCondition {
  std::string_view kind;  // "lagging": the rule is "_self/lagging"
  std::string source;     // empty: trainwatch as a whole
  Severity severity = Severity::warning;
  double value = 0;
  std::string_view unit;
  std::string summary;
  std::string_view next;
};

// What is wrong with the sources.
std::vector<SelfCondition> conditions_of(const SourceWatch& watch);

class SelfAlerts {
 public:
  static constexpr Nanos kGone = std::chrono::minutes(1);
  static constexpr Nanos kPause = std::chrono::minutes(10);

  // Takes all conditions that hold now; returns the alerts that began or ended.
  std::vector<Alert> update(Time now, const std::vector<SelfCondition>& conditions);

  std::size_t active(std::string_view kind) const;

  void state(StateIo& io) { io(open_); }

 private:
  struct Open {
    bool firing = false;
    Time last_seen{};
    Alert alert;
    void state(StateIo& io) {
      io(firing);
      io(last_seen);
      alert.save(io);
    }
  };
  std::map<std::pair<std::string, std::string>, Open> open_;  // by kind and source
};

}  // namespace trainwatch
