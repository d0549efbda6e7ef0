#include "daemon/app/analysis_answer.h"

#include <algorithm>

namespace trainwatch {

HttpResponse answer_analysis(const AnalysisHost& host, const AnalysisQuery& query) {
  const std::vector<std::string> jobs = host.jobs();
  std::string job;
  if (query.job) {
    if (std::find(jobs.begin(), jobs.end(), *query.job) == jobs.end()) return error_response(404);
    job = *query.job;
  } else if (jobs.size() > 1) {
    return error_response(400);
  } else if (!jobs.empty()) {
    job = jobs.front();
  }
  const auto result = host.result(query.name, job);
  if (!result) return error_response(404);
  HttpResponse reply;
  reply.body = result->json() + "\n";
  return reply;
}

}  // namespace trainwatch
