// SPDX-License-Identifier: Apache-2.0
// Runs the requested analyses: one instance of each per job, fed only the events it asked for.
// Costs nothing if none is requested. Alerts do not depend on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/engine/event_journal.h"
#include "pipeline/engine/event_routes.h"
#include "trainwatch/analysis.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/state_io.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

// Both ends are included.
struct TimeRange {
  Time from = Time::min();
  Time to = Time::max();

  bool touches(Time start, Time end) const { return start <= to && from <= end; }
};

using AnalysisList = std::vector<const AnalysisSpec*>;

class AnalysisHost {
 public:
  AnalysisHost(AnalysisList analyses, const Interner& interner)
      : analyses_(std::move(analyses)),
        routes_(analyses_,
                [](const AnalysisSpec* spec) -> const Interest& { return spec->interest; }),
        interner_(interner) {}

  // Restricts events, but not cycles, to this range. Call before the first event.
  void select(const TimeRange& range, AnalysisOptions options = {}) {
    range_ = range;
    options_ = std::move(options);
  }

  void push(std::span<const Event> events);
  void on(const CycleTrace& cycle);

  const AnalysisList& analyses() const { return analyses_; }
  // True if one of them reads the host events of cycles.
  bool wants_host_events() const;
  // The jobs seen, in order of appearance.
  std::vector<std::string> jobs() const;
  // The analysis of a job; null if the job is unknown or the analysis is not running.
  const Analysis* find(std::string_view name, std::string_view job) const;
  // The result of an analysis; for an unknown job, the result for no events. nullopt: the analysis
  // is not running.
  std::optional<Figures> result(std::string_view name, std::string_view job) const;

  // Puts the events since the last call, or the instances of jobs that had any; `all`: every
  // instance. Of an analysis whose states take more than kMostBytes, or of the largest while all of
  // them take more than kMostBytesOfAll, the instance of the job that needs most is stopped.
  void save(StateRows& rows, bool all);
  // Of saved state; in memory it may take twice as much.
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20U;
  static constexpr std::size_t kMostBytesOfAll = std::size_t{24} << 20U;

  // The names of those that took too much memory for a job, and whether one did for this job. It
  // has no results of that job any more, also after a restart.
  std::vector<std::string> stopped() const;
  bool is_stopped(std::string_view name, std::string_view job) const;
  // An instance whose row is damaged or missing starts over and covers the events from then on.
  void load(const SavedState& saved);

 private:
  struct Job {
    SubjectId subject = SubjectId::none;
    bool changed = false;  // since its whole state was last stored
    // In the order of analyses_; null: it was stopped for this job.
    std::vector<std::unique_ptr<Analysis>> instances{};
    std::vector<std::size_t> bytes{};  // of their states, when these were last put
  };

  template <auto kMethod, class OneEvent>
  void run(Job& job, const EventRoutes::Takers& takers, const OneEvent& event) {
    if (takers.empty()) return;
    job.changed = true;
    journal_.add(event);
    for (const std::uint32_t analysis : takers) {
      Analysis* const instance = job.instances[analysis].get();
      if (instance != nullptr) (instance->*kMethod)(event);
    }
  }
  Job& job_of(SeriesId series) {
    const auto index = static_cast<std::size_t>(series);
    if (index < by_series_.size() && by_series_[index] != nullptr) return *by_series_[index];
    return add_series(series);
  }
  Job& job_of(SubjectId subject) {
    const auto index = static_cast<std::size_t>(subject);
    if (index < by_subject_.size() && by_subject_[index] != nullptr) return *by_subject_[index];
    return add_subject(subject);
  }
  void on(const Sample& sample) {
    if (!range_.touches(sample.at, sample.at)) return;
    run<&Analysis::on_sample>(job_of(sample.series), routes_.of(sample), sample);
  }
  void on(const Span& span) {
    if (!range_.touches(span.start, span.end())) return;
    run<&Analysis::on_span>(job_of(span.subject), routes_.of(span), span);
  }
  Job& add_subject(SubjectId subject);
  Job& add_series(SeriesId series);
  Job& make(SubjectId key);
  std::size_t save_whole(StateRows& rows, bool all);  // bytes
  void stop_largest(StateRows& rows);
  void stop(Job& job, std::size_t analysis, StateRows& rows);
  std::string row_of(const Job& job, std::size_t analysis) const;
  void load_stopped(const SavedState& saved);
  void forget_jobs();

  AnalysisList analyses_;
  EventRoutes routes_;  // to analyses_
  const Interner& interner_;
  TimeRange range_;
  AnalysisOptions options_;
  EventJournal journal_;
  std::map<std::string, std::set<SubjectId>, std::less<>> stopped_;  // by name: of which jobs
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<Job*> by_subject_;
  std::vector<Job*> by_series_;
};

}  // namespace trainwatch
