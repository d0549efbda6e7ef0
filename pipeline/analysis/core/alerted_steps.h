// Which alert speaks of a step, for the exemplars on /metrics.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "trainwatch/alert.h"
#include "trainwatch/event.h"

namespace trainwatch {

class AlertedSteps {
 public:
  // `alert` must outlive the object. Of several about one step, the latest in order is found.
  void add(const Alert& alert) {
    if (alert.verdict.step != kNoStep) alerts_.emplace(alert.verdict.step, &alert);
  }

  // The id of the alert about this step of a rank, or of its job; empty: there is none.
  std::string of(const Subject& rank, std::int64_t step) const {
    std::string id;
    for (auto [at, end] = alerts_.equal_range(step); at != end; ++at) {
      const Subject& subject = at->second->subject;
      const bool about = subject.job == rank.job &&
                         (subject.rank == kNoRank || subject.rank == rank.rank) &&
                         (subject.node.empty() || subject.node == rank.node);
      if (about) id = at->second->id;
    }
    return id;
  }

 private:
  std::multimap<std::int64_t, const Alert*> alerts_;
};

}  // namespace trainwatch
