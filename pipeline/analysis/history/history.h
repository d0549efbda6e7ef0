// SPDX-License-Identifier: Apache-2.0
// The histories of all jobs (job_history.h): what the page and the report draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/analysis/history/job_history.h"
#include "pipeline/analysis/job_ids.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/scalar.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class History {
 public:
  // Beyond it, the one of which nothing was heard for the longest time is forgotten.
  static constexpr std::size_t kMostJobs = 32;
  // Single steps: of a job, and of all together.
  static constexpr std::size_t kMostSteps = 2048;
  static constexpr std::size_t kMostStepsOfAll = 8192;
  // Points of scalars of all jobs together, 32 bytes each; those of a job have an equal share.
  static constexpr std::size_t kMostScalarPoints = 131'072;

  // `interner` outlives it.
  explicit History(const Interner& interner) : interner_(interner), job_ids_(interner) {}

  void on(const Sample& sample);
  void on(const Span& span);
  // With all its waits.
  void on(const Step& step);
  void on(const LostInterval& lost);
  void on(const Scalar& scalar);

  const Interner& interner() const { return interner_; }
  const std::map<SubjectId, JobHistory>& jobs() const { return jobs_; }  // by the job's subject
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [job, history] : jobs_) all.push_back(interner_.subjects[job].job);
    return all;
  }
  std::uint64_t jobs_dropped() const { return jobs_dropped_; }
  // What JobHistory::dropped() counts, of all jobs.
  std::uint64_t rows_dropped() const;
  // What ScalarHistory::dropped() counts, of all jobs.
  std::uint64_t scalars_dropped() const;

  // Puts what changed since the last call; `all`: everything.
  void save(StateRows& rows, bool all);
  // Only for a new history. Leaves out jobs that are gone. False: a row is damaged.
  bool load(const SavedState& saved);

 private:
  // Where the samples of a series go.
  struct Place {
    bool known = false;
    std::size_t kind = kHistoryKinds;
    std::size_t slot = JobHistory::kNoSlot;
    JobHistory* job = nullptr;  // in jobs_; null: nowhere
  };

  JobHistory& job_of(SubjectId subject);
  void find_place(const Sample& sample);
  void forget_one();

  const Interner& interner_;
  JobIds job_ids_;
  std::map<SubjectId, JobHistory> jobs_;
  std::size_t scalar_share_ = 0;               // points of a job; 0: not set yet
  std::vector<Place> places_;                  // by SeriesId
  std::map<SubjectId, JobHistory> forgotten_;  // since the last save()
  std::uint64_t jobs_dropped_ = 0;
};

}  // namespace trainwatch
