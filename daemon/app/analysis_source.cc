#include "daemon/app/analysis_source.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "daemon/app/trace_comparison.h"
#include "pipeline/profile/profile_report.h"

namespace trainwatch {
namespace {

HttpReply python_profile(FileSystem& files, const std::vector<std::string>& paths) {
  HttpReply reply;
  reply.body = python_profile_json(files, find_profiles(files, paths), {}) + "\n";
  return reply;
}

}  // namespace

AnalysisSource analysis_source(boost::asio::io_context& net,
                               const std::unique_ptr<EngineThread>& engine,
                               const std::unique_ptr<Reader>& reader,
                               const std::vector<std::string>& watched) {
  return [&](AnalysisQuery query, LaterReply::Done done) {
    const auto answer = [&net, done = std::move(done)](HttpReply reply) {
      boost::asio::post(net,
                        [done, reply = std::move(reply)]() mutable { done(std::move(reply)); });
    };
    if (query.name == kTraceDiff) {
      answer(error_reply(400, kTraceDiffUsage));
    } else if (query.name != kPythonProfile) {
      if (engine != nullptr) engine->analyze(std::move(query), answer);
    } else if (query.job) {  // a profile does not say of which job it is
      answer(error_reply(400));
    } else if (reader != nullptr) {
      reader->post(
          [answer, &watched](FileSystem& files) { answer(python_profile(files, watched)); });
    }
  };
}

}  // namespace trainwatch
