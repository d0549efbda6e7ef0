// Events in, alerts out. Owns the vocabulary, the analyses, the rules and the alert book; one
// thread uses it. No I/O, no clock, no logging: the alerts are a pure function of the configuration
// and of the events, and the ticks only drive rules about absence and the telling of held changes.
//
// Events of one lane must come in file order. Lanes may be interleaved in any way: the set of
// alerts and their final content are the same, and so is the order within a lane.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "pipeline/analysis/attribution.h"
#include "pipeline/analysis/cycle_history.h"
#include "pipeline/analysis/gpu_metrics.h"
#include "pipeline/analysis/span_history.h"
#include "pipeline/analysis/step_tracker.h"
#include "pipeline/analysis/system_history.h"
#include "pipeline/analysis/training_metrics.h"
#include "pipeline/engine/alert_book.h"
#include "pipeline/engine/analysis_host.h"
#include "pipeline/engine/rule_host.h"
#include "trainwatch/alert.h"
#include "trainwatch/event.h"
#include "trainwatch/rule.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/state_rows.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

class Engine final : RuleHost::Listener {
 public:
  explicit Engine(std::vector<RuleConfig> rules, AnalysisList analyses = {});

  // Decoders intern into it.
  Vocabulary& vocabulary() { return vocabulary_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }

  // A Cycle and EndOfInput go to the rules alone.
  void push(std::span<const Event> events);
  void on(const CycleTrace& cycle);
  void tick(Time now);
  // Nothing will follow.
  void end_of_input();

  // Brings causes up to date with all that was read, and tells every held change. Called about
  // once a second in a daemon and at the end of the input.
  void flush();

  // Alerts told since the last call, in order; `seq` is not set yet.
  std::vector<Alert> take_told() { return book_.take_told(); }
  bool has_told() const { return book_.has_told(); }

  // Replaces the rules. A rule whose parameters did not change keeps its state and its alerts;
  // one that changed starts cold, and its open alerts resolve.
  void reconfigure(std::vector<RuleConfig> rules);

  const std::vector<RuleConfig>& rules() const { return host_->rules(); }
  const RuleHost& host() const { return *host_; }
  const AlertBook& book() const { return book_; }
  const TrainingMetrics& metrics() const { return metrics_; }
  const GpuMetrics& gpu_metrics() const { return gpu_metrics_; }
  const AnalysisHost& analyses() const { return analyses_; }
  AnalysisHost& analyses() { return analyses_; }
  // Event time of the newest event, kNoTime before the first.
  Time latest() const { return latest_; }

  // Puts what changed since the last call; `all`: everything. An engine that loads all rows goes on
  // exactly where the saved one stood, but for rules that are configured differently now: they
  // start cold, and their open alerts resolve.
  void save(StateRows& rows, bool all);
  // Only for a new engine. False: the rows are damaged; the engine is of no use then.
  bool load(const StoredRows& rows);

 private:
  // An alert whose cause may still change when other streams catch up.
  struct Unsettled {
    AlertBook::Key key;
    std::string id;
    Verdict verdict;
  };
  static constexpr std::size_t kMaxUnsettled = 1024;

  RuleHost::Listener& listener() { return *this; }
  void on(const Sample& sample, const Event& event);
  void on(const Span& span, const Event& event);
  void on(const Step& step, const Event& event);
  void judged(std::uint32_t rule, SubjectId subject, Verdicts& verdicts) override;
  void time_reached(std::uint32_t rule, SubjectId subject, Time time) override;
  AlertBook::Timing timing(std::uint32_t rule) const;
  void refine(bool all);
  void save_unsettled(StateIo& io);
  void load_unsettled(StateIo& io, const std::vector<bool>& kept);
  std::size_t names_known() const;

  Vocabulary vocabulary_;
  StepTracker steps_;
  SystemHistory system_{vocabulary_};
  SpanHistory spans_;
  CycleHistory cycles_;
  Attribution attribution_{system_, spans_};
  TrainingMetrics metrics_{vocabulary_};
  GpuMetrics gpu_metrics_{vocabulary_};
  AlertBook book_{vocabulary_};
  std::unique_ptr<RuleHost> host_;
  AnalysisHost analyses_;
  std::deque<Unsettled> unsettled_;
  Time latest_ = kNoTime;
  std::size_t names_saved_ = 0;
};

}  // namespace trainwatch
