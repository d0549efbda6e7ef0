// SPDX-License-Identifier: Apache-2.0
// Which alert speaks of a step, for the exemplars on /metrics.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trainwatch/alert.h"
#include "trainwatch/event.h"

namespace trainwatch {

// A step that is slow for all ranks has an alert of each, and an exemplar of each asks for its own:
// looking one up must not look at the others.
class AlertedSteps {
 public:
  // `alert` must outlive the object. Of several about one step, the latest in order is found.
  void add(const Alert& alert) {
    if (alert.verdict.step == kNoStep) return;
    const Subject& subject = alert.subject;
    alerts_[alert.verdict.step][{subject.rank, subject.job, subject.node}] = {added_++, &alert.id};
  }

  // The id of the alert about this step of a rank, or of its job; empty: there is none.
  std::string of(const Subject& rank, std::int64_t step) const {
    const auto alerts = alerts_.find(step);
    if (alerts == alerts_.end()) return {};
    Found latest;
    for (const std::int32_t of_rank : {rank.rank, kNoRank}) {
      for (const std::string_view of_node : {std::string_view(rank.node), std::string_view{}}) {
        const auto found = alerts->second.find({of_rank, rank.job, of_node});
        if (found == alerts->second.end()) continue;
        if (latest.id == nullptr || latest.order < found->second.order) latest = found->second;
      }
    }
    return latest.id == nullptr ? std::string{} : *latest.id;
  }

 private:
  struct About {
    std::int32_t rank;      // kNoRank: all of the job
    std::string_view job;   // these are the alert's
    std::string_view node;  // empty: all of them
    auto operator<=>(const About&) const = default;
  };
  struct Found {
    std::size_t order = 0;
    const std::string* id = nullptr;
  };

  std::unordered_map<std::int64_t, std::map<About, Found>> alerts_;  // by step
  std::size_t added_ = 0;
};

}  // namespace trainwatch
