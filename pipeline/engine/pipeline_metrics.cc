// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>

#include "pipeline/analysis/core/metric_families.h"
#include "pipeline/engine/pipeline_report.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostActive = 2000;  // series
constexpr Severity kSeverities[] = {Severity::info, Severity::warning, Severity::critical};

// One line per counter of a source.
struct SourceCounter {
  std::string_view name;
  std::string_view help;
  std::uint64_t Ingest::Source::*member;
};
constexpr std::array kSourceCounters = {
    SourceCounter{"trainwatch_input_bytes_total", "Bytes read.", &Ingest::Source::bytes},
    SourceCounter{"trainwatch_events_total", "Records decoded.", &Ingest::Source::records},
    SourceCounter{"trainwatch_input_skipped_bytes_total",
                  "Bytes of files that are part of no record, white space and separators aside.",
                  &Ingest::Source::skipped},
    SourceCounter{"trainwatch_file_generations_total",
                  "Files started; a rewritten file counts again.", &Ingest::Source::generations},
    SourceCounter{"trainwatch_file_truncations_total", "Files truncated or rewritten in place.",
                  &Ingest::Source::truncations},
    SourceCounter{"trainwatch_file_bytes_lost_total",
                  "Bytes known to be lost before they were read.", &Ingest::Source::bytes_lost},
    SourceCounter{"trainwatch_read_errors_total", "Failed reads.", &Ingest::Source::read_errors},
};

// One line per figure of a rule.
struct RuleFigure {
  std::string_view name;
  std::string_view help;
  MetricType type;
  double (*value)(const Engine&, std::uint32_t rule);
};
constexpr std::array kRuleFigures = {
    RuleFigure{"trainwatch_rule_evaluations_total", "Events evaluated by the rule.",
               MetricType::counter,
               [](const Engine& engine, std::uint32_t rule) {
                 return static_cast<double>(engine.host().evaluations(rule));
               }},
    RuleFigure{"trainwatch_rule_verdicts_refused_total",
               "Verdicts of the rule whose figures contradict what they say: a fault of the rule.",
               MetricType::counter,
               [](const Engine& engine, std::uint32_t rule) {
                 return static_cast<double>(engine.book().refused(rule));
               }},
    RuleFigure{"trainwatch_rule_warming",
               "Subjects of which the rule has seen too little to decide.", MetricType::gauge,
               [](const Engine& engine, std::uint32_t rule) {
                 return static_cast<double>(engine.host().warming(rule));
               }},
    RuleFigure{"trainwatch_rule_abstaining", "Subjects for which the rule lacks input.",
               MetricType::gauge,
               [](const Engine& engine, std::uint32_t rule) {
                 return static_cast<double>(engine.host().abstaining(rule));
               }},
};

void collect_sources(const Ingest& ingest, std::vector<MetricFamily>& out) {
  for (const SourceCounter& counter : kSourceCounters) {
    MetricFamily made = family(counter.name, counter.help, MetricType::counter);
    for (const auto& [name, source] : ingest.sources()) {
      made.points.push_back(
          {{{"source", name}}, static_cast<double>(source.*counter.member), {}, 0});
    }
    out.push_back(std::move(made));
  }
  MetricFamily rejects =
      family("trainwatch_records_rejected_total", "Records rejected.", MetricType::counter);
  for (const auto& [name, source] : ingest.sources()) {
    for (std::size_t i = 0; i < source.rejects.size(); ++i) {
      rejects.points.push_back(
          {{{"source", name}, {"reason", std::string(to_string(static_cast<RejectReason>(i)))}},
           static_cast<double>(source.rejects[i]),
           {},
           0});
    }
  }
  out.push_back(std::move(rejects));
}

// One line per figure of a source's health.
struct HealthFigure {
  std::string_view name;
  std::string_view help;
  double (*value)(const SourceHealth&);
};
constexpr std::array kHealthFigures = {
    HealthFigure{"trainwatch_source_lag_bytes", "Bytes written but not yet read.",
                 [](const SourceHealth& health) { return static_cast<double>(health.lag_bytes); }},
    HealthFigure{"trainwatch_source_lag_seconds",
                 "How long the oldest unread bytes have been waiting.",
                 [](const SourceHealth& health) { return health.lag_seconds; }},
    HealthFigure{
        "trainwatch_source_stuck",
        "Files that end in the middle of a record and have stopped growing.",
        [](const SourceHealth& health) { return static_cast<double>(health.stuck_files); }},
    HealthFigure{
        "trainwatch_source_unreadable_files", "Files that currently cannot be read.",
        [](const SourceHealth& health) { return static_cast<double>(health.unreadable_files); }},
};

void collect_health(const SourceHealthTracker& watch, std::vector<MetricFamily>& out) {
  for (const HealthFigure& figure : kHealthFigures) {
    MetricFamily made = family(figure.name, figure.help, MetricType::gauge);
    for (const auto& [name, health] : watch.sources()) {
      made.points.push_back({{{"source", name}}, figure.value(health), {}, 0});
    }
    out.push_back(std::move(made));
  }
}

void collect_tail(const SourceHealthTracker& tracker, const TailReport& tail,
                  std::vector<MetricFamily>& out) {
  MetricFamily files =
      family("trainwatch_files_tracked", "Files being watched.", MetricType::gauge);
  for (const auto& [name, health] : tracker.sources()) {
    files.points.push_back({{{"source", name}}, static_cast<double>(health.files), {}, 0});
  }
  MetricFamily degraded = family("trainwatch_watch_degraded",
                                 "1 while changes are found by polling only.", MetricType::gauge);
  const bool polling = !tail.watch_degraded.empty();
  degraded.points.push_back(
      {{{"reason", polling ? tail.watch_degraded : "none"}}, polling ? 1.0 : 0.0, {}, 0});
  MetricFamily missing = family("trainwatch_watch_roots_missing",
                                "Watched paths that do not exist.", MetricType::gauge);
  missing.points.push_back({{}, static_cast<double>(tail.missing_roots.size()), {}, 0});
  MetricFamily skipped =
      family("trainwatch_files_skipped",
             "Paths below the watched ones that are not read, by reason.", MetricType::gauge);
  for (std::size_t i = 0; i < static_cast<std::size_t>(SkipReason::count_); ++i) {
    const auto reason = static_cast<SkipReason>(i);
    const auto count = static_cast<double>(tail.skipped.count(reason));
    skipped.points.push_back({{{"reason", std::string(to_string(reason))}}, count, {}, 0});
  }
  for (MetricFamily* made : {&files, &degraded, &missing, &skipped})
    out.push_back(std::move(*made));
}

void collect_limits(const Engine& engine, const TailReport& tail, std::uint64_t left_out,
                    std::vector<MetricFamily>& out) {
  const Interner& interner = engine.interner();
  struct Limit {
    std::string_view name;
    std::size_t value;
    std::uint64_t hits;
  };
  const Limit limits[] = {
      {"files", tail.files_limit, tail.files_dropped},
      {"subjects", interner.subjects.limit(), interner.subjects.dropped()},
      {"symbols", interner.symbols.limit(), interner.symbols.dropped()},
      {"series", interner.series.limit(), interner.series.dropped()},
      {"history_nodes", engine.system_history().most_nodes(),
       engine.system_history().nodes_dropped()},
      {"charted_jobs", History::kMostJobs, engine.history().jobs_dropped()},
      {"charted_rows", JobHistory::kMostRanks + JobHistory::kMostSeries,
       engine.history().rows_dropped()},
      {"charted_scalars", ScalarHistory::kMostSeries, engine.history().scalars_dropped()},
      {"series_per_family", kMaxSeries, engine.series_dropped()},
      {"analysis_bytes", AnalysisHost::kMostBytes, engine.analyses().stopped().size()},
  };
  MetricFamily values =
      family("trainwatch_limit", "Upper bound of what is kept.", MetricType::gauge);
  MetricFamily hits =
      family("trainwatch_limit_hits_total", "How often a limit was hit.", MetricType::counter);
  for (const Limit& limit : limits) {
    const Labels labels = {{"name", limit.name}};
    values.points.push_back({labels, static_cast<double>(limit.value), {}, 0});
    hits.points.push_back({labels, static_cast<double>(limit.hits), {}, 0});
  }
  MetricFamily dropped =
      family("trainwatch_series_dropped_total",
             "Series left out of /metrics because a family was full.", MetricType::counter);
  dropped.points.push_back({{}, static_cast<double>(engine.series_dropped() + left_out), {}, 0});
  for (MetricFamily* made : {&values, &hits, &dropped}) out.push_back(std::move(*made));
}

void collect_rules(const Engine& engine, std::vector<MetricFamily>& out) {
  const auto& rules = engine.rules();
  for (const RuleFigure& figure : kRuleFigures) {
    MetricFamily made = family(figure.name, figure.help, figure.type);
    for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
      made.points.push_back({{{"rule", rules[rule].spec->id}}, figure.value(engine, rule), {}, 0});
    }
    out.push_back(std::move(made));
  }
}

Labels labels_of(const RuleSpec& rule, Severity severity) {
  return {{"rule", rule.id}, {"severity", to_string(severity)}};
}

void collect_alerts(const Engine& engine, std::vector<MetricFamily>& out) {
  const auto& rules = engine.rules();
  MetricFamily opened =
      family("trainwatch_alerts_total", "Alerts that opened with the severity, or rose to it.",
             MetricType::counter);
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
    for (const Severity severity : kSeverities) {
      const AlertBook::Reached reached = engine.book().reached(rule, severity);
      auto details = std::make_shared<MetricDetails>();
      if (reached.total > 0) details->exemplars = {{1, reached.at, kNoStep, reached.latest}};
      opened.points.push_back({labels_of(*rules[rule].spec, severity),
                               static_cast<double>(reached.total), std::move(details), 0});
    }
  }
  out.push_back(std::move(opened));
}

// Those beyond the limit are counted under `train_job="__other__"`; a rule without alerts shows 0.
void collect_active(const Engine& engine, std::vector<MetricFamily>& out) {
  std::map<Labels, double> active;
  for (const RuleConfig& rule : engine.rules()) {
    for (const Severity severity : kSeverities) active[labels_of(*rule.spec, severity)] = 0;
  }
  const std::size_t most = active.size() + kMostActive;
  engine.book().each_firing([&](std::uint32_t rule, const Alert& alert) {
    const Labels plain = labels_of(*engine.rules()[rule].spec, alert.severity);
    Labels labels = plain;
    labels.add(labels_of(alert.subject));
    if (active.size() >= most && !active.contains(labels)) {
      labels = with(plain, "train_job", kOther);
    }
    if (const auto none = active.find(plain); none != active.end() && none->second == 0) {
      active.erase(none);
    }
    ++active[labels];
  });
  MetricFamily made = family("trainwatch_alert_active", "Alerts firing now.", MetricType::gauge);
  for (const auto& [labels, count] : active) made.points.push_back({labels, count, {}, 0});
  out.push_back(std::move(made));
}

}  // namespace

void collect_pipeline_metrics(const Engine& engine, const Ingest& ingest, const TailReport& tail,
                              const SourceHealthTracker& watch, std::uint64_t left_out,
                              std::vector<MetricFamily>& out) {
  collect_sources(ingest, out);
  collect_health(watch, out);
  collect_tail(watch, tail, out);
  collect_limits(engine, tail, left_out, out);
  collect_rules(engine, out);
  collect_alerts(engine, out);
  collect_active(engine, out);
  engine.ledger().collect(out);
}

}  // namespace trainwatch
