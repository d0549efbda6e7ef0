// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/analysis_source.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "daemon/app/engine_thread.h"
#include "daemon/app/job_choice.h"
#include "pipeline/analysis/hta/trace_diff.h"
#include "pipeline/profile/profile_report.h"

namespace trainwatch {
namespace {

HttpResponse read_profiles(FileSystem& files, const std::vector<std::string>& paths) {
  HttpResponse response;
  response.body = python_profile(files, find_profiles(files, paths), {}).json() + "\n";
  return response;
}

}  // namespace

FileWorker::Options profile_worker_options() {
  FileWorker::Options options;
  options.busy = "the profiles are being read for another request; try again";
  options.too_slow = "there are too many profiles to read in time; use trainwatch analyze";
  return options;
}

HttpResponse answer_analysis(const AnalysisHost& host, const AnalysisQuery& query,
                             const std::vector<std::string>& charted) {
  std::vector<std::string> jobs = host.jobs();
  if (query.job && std::ranges::find(charted, *query.job) != charted.end()) {
    jobs.push_back(*query.job);
  }
  const JobChoice chosen = choose_job(jobs, query.job);
  if (chosen.refused != 0) return error_response(chosen.refused);
  if (host.is_stopped(query.name, chosen.job)) {
    return error_response(503, query.name +
                                   " was stopped, as it takes too much memory; 'trainwatch "
                                   "analyze --what=" +
                                   query.name + "' has no limit");
  }
  const auto result = host.result(query.name, chosen.job);
  if (!result) return error_response(404);
  HttpResponse response;
  response.body = result->json() + "\n";
  return response;
}

AnalysisSource analysis_source(boost::asio::io_context& net,
                               const std::unique_ptr<EngineThread>& engine, FileWorker& profiles,
                               const std::vector<std::string>& watched) {
  return [&](AnalysisQuery query, DeferredResponse::Done done) {
    const auto answer = [&net, done = std::move(done)](HttpResponse response) {
      boost::asio::post(
          net, [done, response = std::move(response)]() mutable { done(std::move(response)); });
    };
    if (query.name == kTraceDiff) {
      answer(error_response(400, kTraceDiffUsage));
    } else if (query.name != kPythonProfile) {
      if (engine == nullptr) return;
      engine->ask(
          [query = std::move(query)](const Engine& of) {
            return answer_analysis(of.analyses(), query, of.history().names());
          },
          answer);
    } else if (query.job) {  // a profile does not name its job
      answer(error_response(400));
    } else {
      profiles.ask([&watched](FileSystem& files) { return read_profiles(files, watched); }, answer);
    }
  };
}

}  // namespace trainwatch
