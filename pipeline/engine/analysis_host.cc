#include "pipeline/engine/analysis_host.h"

#include <algorithm>
#include <charconv>

namespace trainwatch {
namespace {

constexpr std::string_view kPrefix = "analysis/";

std::string prefix_of(const AnalysisSpec& spec) {
  return std::string(kPrefix).append(spec.name).append("/");
}

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

AnalysisHost::Job& AnalysisHost::make(SubjectId key) {
  const auto known = std::find_if(jobs_.begin(), jobs_.end(),
                                  [key](const auto& job) { return job->subject == key; });
  if (known != jobs_.end()) return **known;
  auto job = std::make_unique<Job>();
  job->subject = key;
  for (const AnalysisSpec* spec : analyses_)
    job->instances.push_back(spec->make(vocabulary_, steps_));
  route(*job, analyses_);
  return *jobs_.emplace_back(std::move(job));
}

void AnalysisHost::route(Job& job, const AnalysisList& analyses) {
  job.sample_takers.clear();
  for (auto& takers : job.span_takers) takers.clear();
  for (std::size_t i = 0; i < analyses.size(); ++i) {
    Analysis* const instance = job.instances[i].get();
    if (analyses[i]->samples) job.sample_takers.push_back(instance);
    for (const SpanKind kind : analyses[i]->spans) {
      job.span_takers[static_cast<std::size_t>(kind)].push_back(instance);
    }
  }
}

AnalysisHost::Job& AnalysisHost::add_subject(SubjectId subject) {
  const auto index = static_cast<std::size_t>(subject);
  if (index >= by_subject_.size()) by_subject_.resize(index + 1);
  const Subject wanted = project(vocabulary_.subjects[subject], Scope::job);
  by_subject_[index] = &make(vocabulary_.subjects.find(wanted));
  return *by_subject_[index];
}

AnalysisHost::Job& AnalysisHost::add_series(SeriesId series) {
  const auto index = static_cast<std::size_t>(series);
  if (index >= by_series_.size()) by_series_.resize(index + 1);
  by_series_[index] = &job_of(vocabulary_.series[series].subject);
  return *by_series_[index];
}

void AnalysisHost::on(const CycleTrace& cycle) {
  Job* job = nullptr;
  for (std::size_t i = 0; i < analyses_.size(); ++i) {
    if (!analyses_[i]->cycles) continue;
    if (job == nullptr) job = &job_of(cycle.subject);
    job->instances[i]->on_cycle(cycle);
  }
  if (job == nullptr) return;
  job->changed = true;
  log_.fill();
}

bool AnalysisHost::wants_host_rows() const {
  return std::ranges::any_of(analyses_, [](const auto* spec) { return spec->host_rows; });
}

std::vector<std::string> AnalysisHost::jobs() const {
  std::vector<std::string> names;
  for (const auto& job : jobs_) names.push_back(vocabulary_.subjects[job->subject].job);
  return names;
}

std::optional<std::string> AnalysisHost::result(std::string_view name, std::string_view job) const {
  const auto wanted = std::find_if(analyses_.begin(), analyses_.end(),
                                   [name](const auto* spec) { return spec->name == name; });
  if (wanted == analyses_.end()) return std::nullopt;
  const auto index = static_cast<std::size_t>(wanted - analyses_.begin());
  JsonWriter json;
  for (const auto& known : jobs_) {
    if (vocabulary_.subjects[known->subject].job != job) continue;
    known->instances[index]->write(json);
    return json.take();
  }
  (*wanted)->make(vocabulary_, steps_)->write(json);
  return json.take();
}

void AnalysisHost::save(StateRows& rows, bool all) {
  if (!all && !log_.full()) return log_.save(rows);
  save_whole(rows, all);
  log_.clear(rows);
}

void AnalysisHost::save_whole(StateRows& rows, bool all) {
  for (const auto& job : jobs_) {
    if (!all && !job->changed) continue;
    job->changed = false;
    const std::string number = std::to_string(static_cast<std::uint32_t>(job->subject));
    for (std::size_t i = 0; i < analyses_.size(); ++i) {
      rows.put(prefix_of(*analyses_[i]) + number,
               [&](StateIo& io) { job->instances[i]->state(io); });
    }
  }
}

void AnalysisHost::load(const StoredRows& rows) {
  for (std::size_t i = 0; i < analyses_.size(); ++i) {
    for_rows(rows, prefix_of(*analyses_[i]), [&](std::string_view subject, std::string_view bytes) {
      const auto number = parse_number(subject);
      if (!number || *number >= vocabulary_.subjects.size()) return true;
      Job& job = make(static_cast<SubjectId>(*number));
      job.changed = true;
      StateIo io = StateIo::loading(bytes);
      job.instances[i]->state(io);
      if (!io.complete()) job.instances[i] = analyses_[i]->make(vocabulary_, steps_);
      return true;
    });
  }
  for (const auto& job : jobs_) route(*job, analyses_);
  std::vector<Event> events;
  if (!log_.load(rows, events)) return jobs_.clear();  // not with a hole in what they saw
  for (const Event& event : events) {
    if (const auto* sample = std::get_if<Sample>(&event)) on(*sample, event);
    if (const auto* span = std::get_if<Span>(&event)) on(*span, event);
  }
}

}  // namespace trainwatch
