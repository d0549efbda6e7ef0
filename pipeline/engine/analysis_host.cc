// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/analysis_host.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <string>
#include <utility>

namespace trainwatch {
namespace {

constexpr std::size_t kGrowth = 8;  // a state grows by less than 1 / kGrowth between commits

constexpr std::string_view kAnalysisPrefix = "analysis/";
constexpr std::string_view kStopped = "analyses_stopped";

std::string prefix_of(const AnalysisSpec& spec) {
  return std::string(kAnalysisPrefix).append(spec.name).append("/");
}

}  // namespace

AnalysisHost::Job& AnalysisHost::make(SubjectId key) {
  const auto known = std::find_if(jobs_.begin(), jobs_.end(),
                                  [key](const auto& job) { return job->subject == key; });
  if (known != jobs_.end()) return **known;
  auto job = std::make_unique<Job>();
  job->subject = key;
  for (const AnalysisSpec* spec : analyses_) {
    const auto stopped = stopped_.find(spec->name);
    const bool runs = stopped == stopped_.end() || !stopped->second.contains(key);
    job->instances.push_back(runs ? spec->make(interner_, options_) : nullptr);
  }
  job->bytes.resize(analyses_.size());
  return *jobs_.emplace_back(std::move(job));
}

AnalysisHost::Job& AnalysisHost::add_subject(SubjectId subject) {
  const auto index = static_cast<std::size_t>(subject);
  if (index >= by_subject_.size()) by_subject_.resize(index + 1);
  const Subject wanted = project(interner_.subjects[subject], Scope::job);
  by_subject_[index] = &make(interner_.subjects.find(wanted));
  return *by_subject_[index];
}

AnalysisHost::Job& AnalysisHost::add_series(SeriesId series) {
  const auto index = static_cast<std::size_t>(series);
  if (index >= by_series_.size()) by_series_.resize(index + 1);
  by_series_[index] = &job_of(interner_.series[series].subject);
  return *by_series_[index];
}

void AnalysisHost::push(std::span<const Event> events) {
  if (analyses_.empty()) return;
  for (const Event& event : events) {
    if (const auto* sample = std::get_if<Sample>(&event)) on(*sample);
    if (const auto* span = std::get_if<Span>(&event)) on(*span);
  }
}

void AnalysisHost::on(const CycleTrace& cycle) {
  if (routes_.cycles().empty()) return;
  Job& job = job_of(cycle.subject);
  for (const std::uint32_t analysis : routes_.cycles()) {
    if (job.instances[analysis] != nullptr) job.instances[analysis]->on_cycle(cycle);
  }
  job.changed = true;
  journal_.fill();
}

bool AnalysisHost::wants_host_events() const {
  return std::ranges::any_of(analyses_, [](const auto* spec) { return spec->host_events; });
}

std::vector<std::string> AnalysisHost::jobs() const {
  std::vector<std::string> names;
  for (const auto& job : jobs_) names.push_back(interner_.subjects[job->subject].job);
  return names;
}

const Analysis* AnalysisHost::find(std::string_view name, std::string_view job) const {
  for (std::size_t i = 0; i < analyses_.size(); ++i) {
    if (analyses_[i]->name != name) continue;
    for (const auto& known : jobs_) {
      if (interner_.subjects[known->subject].job == job) return known->instances[i].get();
    }
  }
  return nullptr;
}

std::optional<Figures> AnalysisHost::result(std::string_view name, std::string_view job) const {
  const auto wanted = std::find_if(analyses_.begin(), analyses_.end(),
                                   [name](const auto* spec) { return spec->name == name; });
  if (wanted == analyses_.end() || is_stopped(name, job)) return std::nullopt;
  const Analysis* const known = find(name, job);
  return known != nullptr ? known->figures() : (*wanted)->make(interner_, options_)->figures();
}

void AnalysisHost::save(StateRows& rows, bool all) {
  if (!all && !journal_.full()) return journal_.save(rows);
  const std::size_t bytes = save_whole(rows, all);
  journal_.clear(rows, bytes);
}

std::size_t AnalysisHost::save_whole(StateRows& rows, bool all) {
  std::size_t bytes = 0;
  for (const auto& job : jobs_) {
    if (!all && !job->changed) continue;
    job->changed = false;
    for (std::size_t i = 0; i < analyses_.size(); ++i) {
      if (job->instances[i] == nullptr) continue;
      rows.put(row_of(*job, i), [&](StateIo& io) {
        io.reserve(job->bytes[i] + job->bytes[i] / kGrowth);
        job->instances[i]->state(io);
        job->bytes[i] = io.saved().size();
      });
      bytes += job->bytes[i];
    }
  }
  stop_largest(rows);
  if (stopped_.empty()) return bytes;
  rows.put(std::string(kStopped), [this](StateIo& io) {
    std::map<std::string, std::vector<SubjectId>> jobs;
    for (const auto& [name, of] : stopped_) jobs[name].assign(of.begin(), of.end());
    io(jobs);
  });
  return bytes;
}

std::string AnalysisHost::row_of(const Job& job, std::size_t analysis) const {
  return id_row(prefix_of(*analyses_[analysis]), job.subject);
}

void AnalysisHost::stop_largest(StateRows& rows) {
  std::vector<std::size_t> bytes(analyses_.size());
  for (const auto& job : jobs_) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] += job->bytes[i];
  }
  std::size_t all = std::accumulate(bytes.begin(), bytes.end(), std::size_t{});
  while (true) {
    const auto largest = std::ranges::max_element(bytes);
    if (largest == bytes.end() || (*largest <= kMostBytes && all <= kMostBytesOfAll)) return;
    const auto analysis = static_cast<std::size_t>(largest - bytes.begin());
    Job& job = **std::ranges::max_element(
        jobs_, {}, [analysis](const auto& each) { return each->bytes[analysis]; });
    all -= job.bytes[analysis];
    *largest -= job.bytes[analysis];
    stop(job, analysis, rows);
  }
}

void AnalysisHost::stop(Job& job, std::size_t analysis, StateRows& rows) {
  stopped_[std::string(analyses_[analysis]->name)].insert(job.subject);
  job.instances[analysis] = nullptr;
  job.bytes[analysis] = 0;
  rows.remove(row_of(job, analysis));
}

std::vector<std::string> AnalysisHost::stopped() const {
  std::vector<std::string> names;
  for (const auto& [name, jobs] : stopped_) names.push_back(name);
  return names;
}

bool AnalysisHost::is_stopped(std::string_view name, std::string_view job) const {
  const auto stopped = stopped_.find(name);
  return stopped != stopped_.end() && std::ranges::any_of(stopped->second, [&](SubjectId subject) {
           return interner_.subjects[subject].job == job;
         });
}

void AnalysisHost::load_stopped(const SavedState& saved) {
  std::map<std::string, std::vector<SubjectId>> jobs;
  load_row(saved, kStopped, [&](StateIo& io) { io(jobs); });
  for (const AnalysisSpec* const spec : analyses_) {
    const auto found = jobs.find(std::string(spec->name));
    if (found == jobs.end() || found->second.empty()) continue;
    stopped_[found->first] = {found->second.begin(), found->second.end()};
  }
}

void AnalysisHost::load(const SavedState& saved) {
  load_stopped(saved);
  for (std::size_t i = 0; i < analyses_.size(); ++i) {
    for_rows(saved, prefix_of(*analyses_[i]),
             [&](std::string_view subject, std::string_view bytes) {
               const auto key = saved.subject(subject);
               if (!key) return true;
               Job& job = make(*key);
               if (job.instances[i] == nullptr) return true;
               job.changed = true;
               StateIo io = saved.open(bytes);
               job.instances[i]->state(io);
               if (!io.complete()) job.instances[i] = analyses_[i]->make(interner_, options_);
               return true;
             });
  }
  const bool whole = journal_.load(saved, [this](const Event& event) { push({&event, 1}); });
  if (!whole) forget_jobs();  // instead of a gap in their events
}

void AnalysisHost::forget_jobs() {
  jobs_.clear();
  by_subject_.clear();
  by_series_.clear();
}

}  // namespace trainwatch
