// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <ostream>

#include "commands/commands.h"
#include "commands/offline_run.h"
#include "commands/replace_file.h"
#include "commands/report/recorded_answers.h"
#include "commands/report/report_content.h"
#include "commands/report/sections.h"
#include "daemon/exit_code.h"
#include "daemon/version.h"
#include "pipeline/analysis/catalog.h"
#include "pipeline/engine/headline_text.h"
#include "pipeline/engine/run_headlines.h"
#include "rules/catalog.h"

namespace trainwatch {
namespace {

// The latest version of each alert, in the order in which they were opened.
class LatestAlerts {
 public:
  void add(std::vector<Alert> emitted) {
    for (Alert& alert : emitted) {
      const auto place = places_.try_emplace(alert.id, alerts_.size()).first->second;
      if (place == alerts_.size()) {
        alerts_.push_back(std::move(alert));
      } else {
        alerts_[place] = std::move(alert);
      }
    }
  }
  void add_jobs(std::vector<std::string>& jobs) const {
    for (const Alert& alert : alerts_) {
      if (!alert.rule.starts_with("_self/")) jobs.push_back(alert.subject.job);
    }
  }
  std::vector<Alert> of_job(const std::string& job) && {
    std::erase_if(alerts_, [&](const Alert& alert) { return alert.subject.job != job; });
    return std::move(alerts_);
  }

 private:
  std::map<std::string, std::size_t> places_;  // by id
  std::vector<Alert> alerts_;
};

// Also those that the analyses know nothing of, as logs without times.
std::vector<std::string> jobs_in(const Engine& engine, const LatestAlerts& alerts) {
  std::vector<std::string> jobs = engine.analyses().jobs();
  for (const auto& [job, shown] : shown_runs(engine)) {
    jobs.push_back(engine.interner().subjects[job].job);
  }
  alerts.add_jobs(jobs);
  std::ranges::sort(jobs);
  const auto same = std::ranges::unique(jobs);
  jobs.erase(same.begin(), same.end());
  return jobs;
}

std::vector<std::string> names_in_report() {
  std::vector<std::string> names = analyses_in_report();
  std::ranges::move(gpu_analyses_in_report(), std::back_inserter(names));
  return names;
}

AnalysisList shown_analyses() {
  const std::vector<std::string> names = names_in_report();
  AnalysisList analyses;
  for (const AnalysisSpec* spec : analysis_catalog()) {
    if (std::find(names.begin(), names.end(), spec->name) != names.end()) analyses.push_back(spec);
  }
  return analyses;
}

void describe_input(const Ingest& ingest, ReportContent& content) {
  std::map<std::string, std::uint64_t> files;
  for (const auto& [id, file] : ingest.files()) {
    ++files[file.known.source];
    ++content.formats[file.format];
  }
  for (const auto& [source, counts] : ingest.sources()) {
    SourceFigures figures{source,         files[source],      counts.bytes,
                          counts.records, counts.read_errors, {}};
    for (std::size_t i = 0; i < counts.rejects.size(); ++i) {
      if (counts.rejects[i] == 0) continue;
      figures.rejects.emplace_back(to_string(static_cast<RejectReason>(i)), counts.rejects[i]);
    }
    content.sources.push_back(std::move(figures));
  }
  for (const RejectedSample& sample : ingest.rejected()) {
    content.rejected.push_back({sample.path, std::string(to_string(sample.reason)), sample.text});
  }
}

void describe_rules(const Config& config, ReportContent& content) {
  content.rules = config.enabled_rules();
  for (const RuleSpec* spec : rule_catalog()) {
    const bool runs = std::any_of(content.rules.begin(), content.rules.end(),
                                  [spec](const RuleConfig& rule) { return rule.spec == spec; });
    if (!runs) content.rules_off.emplace_back(spec->id);
  }
}

// Why a rule could not judge anything, or some of what it is about; empty: it could.
std::string undecided(const RuleHost& host, std::uint32_t rule) {
  if (host.instances(rule) == 0) return "not judged: these files have nothing that it is about";
  std::string why;
  for (const std::string_view input : host.missing(rule)) {
    why.append(why.empty() ? "not judged everywhere: without " : ", ").append(input);
  }
  return why;
}

void describe_what_was_not_judged(const RuleHost& host, ReportContent& content) {
  for (std::uint32_t rule = 0; rule < host.rules().size(); ++rule) {
    std::string why = undecided(host, rule);
    if (!why.empty()) content.undecided.emplace(host.rules()[rule].spec->id, std::move(why));
  }
}

// Empty: no step of it was read.
std::string sentence_of(const Engine& engine, const std::string& name) {
  for (const auto& [job, shown] : shown_runs(engine)) {
    const Headline& headline = shown.headline;
    if (engine.interner().subjects[job].job == name)
      return fill_headline(headline.text, headline.since, engine.latest(job), {});
  }
  return {};
}

}  // namespace

int report(const ReportOptions& options, std::ostream& out, std::ostream& err) {
  const OfflineRun files(options, err);
  if (files.refused()) return *files.refused();
  const bool to_file = options.output != "-";
  // Check this before reading, which may take an hour.
  if (const Status can = to_file ? can_replace(options.output) : success(); !can) {
    return refuse(can.error(), exit_code::failed, err);
  }

  Engine engine(files.config().enabled_rules(), shown_analyses());
  LatestAlerts latest;
  const auto ingest = files.read_into(engine, [&] { latest.add(engine.take_emitted()); });
  const auto job = choose_job(options.job, jobs_in(engine, latest));
  if (!job) return refuse(job.error(), exit_code::usage, err);

  Figures results = job_results(engine.analyses(), names_in_report(), *job, options.paths);
  auto figures = read_job_figures(results);
  if (!figures) return refuse(figures.error(), exit_code::failed, err);
  ReportContent content;
  content.program =
      "trainwatch " + std::string(version()) + " (" + std::string(version_revision()) + ")";
  content.job = *job;
  content.alerts = std::move(latest).of_job(*job);
  content.figures = std::move(*figures);
  content.results = std::move(results);
  describe_input(*ingest, content);
  describe_rules(files.config(), content);
  describe_what_was_not_judged(engine.host(), content);
  content.headline = sentence_of(engine, *job);
  content.answers = recorded_answers({engine, *ingest, *job, content.alerts, content.results},
                                     std::string(version()));

  const std::string page = report_page(content);
  if (to_file) {
    const Status written = replace_file(options.output, page);
    return written ? exit_code::done : refuse(written.error(), exit_code::failed, err);
  }
  out << page << std::flush;
  return out ? exit_code::done : refuse({"cannot write the report"}, exit_code::failed, err);
}

}  // namespace trainwatch
