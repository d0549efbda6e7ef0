// SPDX-License-Identifier: Apache-2.0
// The newest event time of each job: where its files end. The files of another job say nothing
// about how long this one has been silent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "pipeline/analysis/job_ids.h"
#include "trainwatch/interner.h"
#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

class JobTimes {
 public:
  // `interner` outlives it.
  explicit JobTimes(const Interner& interner) : jobs_(interner) {}

  void saw(SubjectId subject, Time time) {
    if (subject != last_ || latest_.empty()) {
      last_ = subject;
      last_job_ = static_cast<std::size_t>(jobs_.of(subject));
      if (last_job_ >= latest_.size()) latest_.resize(last_job_ + 1, kNoTime);
    }
    latest_[last_job_] = std::max(latest_[last_job_], time);
  }
  // Of the job of any subject; kNoTime: none is known.
  Time latest(SubjectId subject) const {
    const auto job = static_cast<std::size_t>(jobs_.of(subject));
    return job < latest_.size() ? latest_[job] : kNoTime;
  }

  void state(StateIo& io) {
    if (io.is_loading()) last_ = SubjectId::none;
    io.by_id<SubjectId>(latest_);
    if (!std::ranges::all_of(latest_, is_possible)) io.fail();
  }

 private:
  mutable JobIds jobs_;               // which remembers what it has looked up
  std::vector<Time> latest_;          // by the subject of the job
  SubjectId last_ = SubjectId::none;  // that was seen: most events are of the same
  std::size_t last_job_ = 0;
};

}  // namespace trainwatch
