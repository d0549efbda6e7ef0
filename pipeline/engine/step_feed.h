// SPDX-License-Identifier: Apache-2.0
// The training steps that ended most recently, for clients that watch a job live. Not part of the
// state: it is empty after a restart, and steps are sent again when their files are read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {

class StepFeed {
 public:
  // The maximum kept; beyond it, the newest.
  static constexpr std::size_t kMaxSteps = 256;

  struct Taken {
    std::string json;  // {"steps":[…]}, in the order in which they ended in their files
    std::size_t steps = 0;
    std::uint64_t dropped = 0;  // older ones that were dropped
  };

  void add(const Step& step) {
    if (steps_.size() < kMaxSteps) return steps_.push_back(step);
    steps_[oldest_] = step;
    oldest_ = (oldest_ + 1) % kMaxSteps;
    ++dropped_;
  }

  // Nobody has asked for those that it has.
  void clear() {
    steps_.clear();
    oldest_ = 0;
    dropped_ = 0;
  }

  // The steps added since the last call.
  Taken take(const Interner& interner) {
    JsonWriter json;
    json.begin_object().key("steps").begin_array();
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[(oldest_ + i) % steps_.size()];
      write(json, step, interner.subjects[step.subject]);
    }
    json.end_array().end_object();
    Taken taken{json.take(), steps_.size(), dropped_};
    clear();
    return taken;
  }

 private:
  static void write(JsonWriter& json, const Step& step, const Subject& subject) {
    json.begin_object();
    if (!subject.job.empty()) json.field("job", subject.job);
    if (!subject.node.empty()) json.field("node", subject.node);
    if (subject.rank != kNoRank) json.field("rank", subject.rank);
    if (subject.process != kNoProcess) json.field("process", subject.process);
    json.key("step");
    step.number == kNoStep ? json.null() : json.value(step.number);
    json.field("mode", to_string(step.mode)).field("origin", to_string(step.origin));
    json.field("started_at", to_rfc3339(step.start));
    json.field("iteration_seconds", to_seconds(step.iteration()));
    json.field("duration_seconds", to_seconds(step.duration));
    json.field("data_wait_seconds", to_seconds(step.data_wait)).end_object();
  }

  std::vector<Step> steps_;
  std::size_t oldest_ = 0;  // where, if it is full
  std::uint64_t dropped_ = 0;
};

}  // namespace trainwatch
