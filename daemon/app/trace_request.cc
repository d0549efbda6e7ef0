// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/trace_request.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "daemon/app/alert_mark.h"
#include "daemon/app/job_choice.h"

namespace trainwatch {
namespace {

constexpr std::uint64_t kMostAlerts = 512;  // the latest that are looked at

std::int64_t bound_ns(const std::optional<std::int64_t>& micros, std::int64_t otherwise) {
  return micros ? *micros * 1000 : otherwise;
}

TimeWindow time_window(const TraceQuery& query) {
  const TimeWindow always;
  return {bound_ns(query.start, always.from_ns), bound_ns(query.end, always.to_ns)};
}

// Covers at least the time from the beginning of step `start` to that of step `end`. The history
// knows in which column each step ended; a step begins no earlier than the column before that.
TimeWindow step_window(const JobHistory& job, const TraceQuery& query) {
  TimeWindow window;
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
  std::int64_t before = kNoStep;            // the last step of the column before,
  std::int64_t before_ns = window.from_ns;  // and its beginning
  const auto* const columns = job.levels().back();
  columns->each(time_from_ns(0), time_from_ns(std::numeric_limits<std::int64_t>::max()),
                [&](Time start, const StepColumn& column) {
                  const std::int64_t begin_ns = to_ns(start);
                  if (!from && query.start && column.last_step >= *query.start) from = before_ns;
                  if (query.end && before < *query.end) to = begin_ns + columns->width().count();
                  before = std::max(before, column.last_step);
                  before_ns = begin_ns;
                });
  constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::max();
  if (query.start) window.from_ns = from.value_or(kNothing);
  if (query.end) window.to_ns = to.value_or(window.to_ns);
  return window;
}

}  // namespace

TraceRequest TraceRequest::made(TraceQuery query, const Engine& engine, const Ingest& ingest,
                                StateStore& store) {
  TraceRequest request;
  request.query = std::move(query);
  request.choose_window(engine, store);
  if (request.refused != 0) return request;
  request.complete = to_ns(engine.latest()) >= request.window.to_ns;
  request.find_files(ingest);
  if (request.query.view == TraceView::annotations) return request;
  const std::uint64_t last = store.last_seq();
  const auto alerts = store.alerts_after(last - std::min(last, kMostAlerts), kMostAlerts);
  if (alerts) request.alerts = alert_marks(*alerts);
  return request;
}

void TraceRequest::choose_window(const Engine& engine, StateStore& store) {
  window = time_window(query);
  if (query.view == TraceView::alert) {
    const auto alert = store.latest(query.alert);
    if (alert && !alert->empty()) about = alert_mark(*alert->front());
    window = about ? incident_window(*about) : TimeWindow{0, 0};
  } else if (query.unit == TraceQuery::Unit::step) {
    const History& history = engine.history();
    std::vector<std::string> names;
    for (const auto& [job, kept] : history.jobs())
      names.push_back(history.interner().subjects[job].job);
    const JobChoice chosen = choose_job(names, query.job);
    refused = chosen.refused;
    for (const auto& [job, kept] : history.jobs()) {
      if (refused == 0 && history.interner().subjects[job].job == chosen.job)
        window = step_window(kept, query);
    }
  }
}

void TraceRequest::find_files(const Ingest& ingest) {
  files = ingest.windows(window.from_ns, window.to_ns);
  if (query.job)
    std::erase_if(files, [this](const FileWindow& file) { return file.job != *query.job; });
  std::ranges::sort(
      files, {}, [](const FileWindow& file) { return std::tie(file.job, file.rank, file.path); });
}

}  // namespace trainwatch
