// Runs the analyses that are asked for: one instance of each per job, given only the events it
// asked for. Costs nothing where none is. Alerts do not depend on it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/engine/analysis_log.h"
#include "trainwatch/analysis.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

// Both ends belong to it.
struct TimeRange {
  Time from = Time::min();
  Time to = Time::max();

  bool touches(Time start, Time end) const { return start <= to && from <= end; }
};

using AnalysisList = std::vector<const AnalysisSpec*>;

class AnalysisHost {
 public:
  AnalysisHost(AnalysisList analyses, const Vocabulary& vocabulary)
      : analyses_(std::move(analyses)), vocabulary_(vocabulary), log_(vocabulary) {}

  // Only events in this range, and the cycles, are handed out from now on. Before the first of
  // them.
  void select(const TimeRange& range, StepSelection steps = StepSelection::included) {
    range_ = range;
    steps_ = steps;
  }

  void on(const Sample& sample, const Event& event) {
    if (analyses_.empty() || !range_.touches(sample.at, sample.at)) return;
    const auto index = static_cast<std::size_t>(sample.series);
    Job* const known = index < by_series_.size() ? by_series_[index] : nullptr;
    Job& job = known != nullptr ? *known : add_series(sample.series);
    hand(event, job, job.sample_takers);
  }
  void on(const Span& span, const Event& event) {
    if (analyses_.empty() || !range_.touches(span.start, span.end())) return;
    Job& job = job_of(span.subject);
    hand(event, job, job.span_takers[static_cast<std::size_t>(span.kind)]);
  }

  // Of the job that the cycle's subject belongs to.
  void on(const CycleTrace& cycle);

  const AnalysisList& analyses() const { return analyses_; }
  // Whether one of them reads the events of the host in cycles.
  bool wants_host_rows() const;
  // The jobs that were seen, in the order in which they were.
  std::vector<std::string> jobs() const;
  // The result of an analysis as JSON. Of a job that was not seen it is that of no events. Nothing:
  // it does not run here.
  std::optional<std::string> result(std::string_view name, std::string_view job) const;

  // Puts the events since the last call, or the instances of the jobs that had any; `all`: every
  // instance.
  void save(StateRows& rows, bool all);
  // An instance whose row is damaged or missing begins anew: what it says is of the events from
  // then on.
  void load(const StoredRows& rows);

 private:
  struct Job {
    SubjectId subject = SubjectId::none;
    bool changed = false;                                // since it was last stored whole
    std::vector<std::unique_ptr<Analysis>> instances{};  // as analyses_
    std::vector<Analysis*> sample_takers{};
    std::array<std::vector<Analysis*>, static_cast<std::size_t>(SpanKind::count_)> span_takers{};
  };

  void hand(const Event& event, Job& job, const std::vector<Analysis*>& takers) {
    if (takers.empty()) return;
    job.changed = true;
    log_.add(event);
    for (Analysis* const analysis : takers) analysis->on(event);
  }
  Job& job_of(SubjectId subject) {
    const auto index = static_cast<std::size_t>(subject);
    if (index < by_subject_.size() && by_subject_[index] != nullptr) return *by_subject_[index];
    return add_subject(subject);
  }
  Job& add_subject(SubjectId subject);
  Job& add_series(SeriesId series);
  Job& make(SubjectId key);
  static void route(Job& job, const AnalysisList& analyses);
  void save_whole(StateRows& rows, bool all);

  AnalysisList analyses_;
  const Vocabulary& vocabulary_;
  TimeRange range_;
  StepSelection steps_ = StepSelection::included;
  AnalysisLog log_;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<Job*> by_subject_;
  std::vector<Job*> by_series_;
};

}  // namespace trainwatch
