// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/chart_source.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/app/engine_thread.h"
#include "daemon/app/job_choice.h"
#include "pipeline/analysis/history/history_json.h"
#include "pipeline/analysis/history/scalar_json.h"
#include "pipeline/engine/life_json.h"

namespace trainwatch {
namespace {

std::string chart_json(const History& history, const std::string& name, const JobHistory& job,
                       const ChartQuery& query) {
  switch (query.view) {
    case ChartView::steps:
      return steps_json(name, job, query.range);
    case ChartView::last_steps:
      return last_steps_json(name, job, history.interner(), query.last);
    case ChartView::rank_map:
      return rank_map_json(name, job, history.interner(), query.range);
    case ChartView::usage_map:
      return usage_map_json(name, job, history.interner(), query.range);
    case ChartView::wall_time:
      break;  // not of the history
    case ChartView::step_histogram:
      return step_histogram_json(name, job, query.range);
    case ChartView::usage_histogram:
      return usage_histogram_json(name, job);
    case ChartView::scalars: {
      ScalarChoice choice{query.tags};
      if (query.last > 0) choice.last = query.last;
      return scalars_json(name, job.scalars(), history.interner(), choice);
    }
  }
  return "{}";
}

}  // namespace

HttpResponse answer_chart(const History& history, const std::vector<Step>& more,
                          const ChartQuery& query) {
  const auto job_of = [&history](SubjectId rank) -> const std::string& {
    return history.interner().subjects[rank].job;
  };
  const std::vector<std::string> known = history.names();
  std::set<std::string> names(known.begin(), known.end());
  for (const Step& step : more) names.insert(job_of(step.subject));
  const JobChoice chosen = choose_job({names.begin(), names.end()}, query.job);
  if (chosen.refused != 0) return error_response(chosen.refused);
  static const JobHistory nothing;
  const JobHistory* found = &nothing;
  for (const auto& [job, kept] : history.jobs()) {
    if (history.interner().subjects[job].job == chosen.job) found = &kept;
  }
  std::optional<JobHistory> longer;  // than what is kept
  for (const Step& step : more) {
    if (job_of(step.subject) != chosen.job) continue;
    if (!longer) longer = *found;
    longer->on(step, History::kMostSteps);
  }
  HttpResponse response;
  response.body = chart_json(history, chosen.job, longer ? *longer : *found, query) + "\n";
  return response;
}

HttpResponse answer_chart(const Ledger& ledger, const Interner& interner, const ChartQuery& query) {
  std::vector<std::string> names;
  for (const auto& [job, run] : ledger.runs()) names.push_back(interner.subjects[job].job);
  const JobChoice chosen = choose_job(names, query.job);
  if (chosen.refused != 0) return error_response(chosen.refused);
  const auto found = std::ranges::find_if(ledger.runs(), [&](const auto& run) {
    return interner.subjects[run.first].job == chosen.job;
  });
  HttpResponse response;
  response.body =
      (found == ledger.runs().end()
           ? wall_time_json(chosen.job, RunLedger(), {}, query.range)
           : wall_time_json(chosen.job, found->second, ledger.life(found->first), query.range)) +
      "\n";
  return response;
}

ChartSource chart_source(boost::asio::io_context& net,
                         const std::unique_ptr<EngineThread>& engine) {
  return [&net, &engine](ChartQuery query, DeferredResponse::Done done) {
    if (engine == nullptr) return;
    engine->ask(
        [query = std::move(query)](const Engine& of) {
          if (query.view == ChartView::wall_time)
            return answer_chart(of.ledger(), of.interner(), query);
          return answer_chart(of.history(), of.steps_without_waits(), query);
        },
        [&net, done = std::move(done)](HttpResponse response) {
          boost::asio::post(
              net, [done, response = std::move(response)]() mutable { done(std::move(response)); });
        });
  };
}

}  // namespace trainwatch
