// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/trace_source.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "daemon/app/engine_thread.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostStored = 8;  // timelines that are being made or sent
// After an alert, its trace is made when what followed it has been read, or this much later.
constexpr int kPatienceSeconds = 60;
constexpr const char* kBusy = "other traces are being made; try again";

}  // namespace

FileWorker::Options trace_worker_options() {
  FileWorker::Options options;
  options.queue = 8;
  options.busy = kBusy;
  options.too_slow =
      "there is too much to read in time; choose a shorter span of time, or use "
      "'trainwatch timeline', which has no limit";
  return options;
}

FileWorker::Options timeline_worker_options() {
  FileWorker::Options options = trace_worker_options();
  options.queue = kMostStored;
  options.limit = std::chrono::seconds(25);  // HttpLimits::request is 30
  return options;
}

TraceMaker::TraceMaker(boost::asio::io_context& net, const std::unique_ptr<EngineThread>& engine,
                       Workers workers, IncidentTraces incidents, std::string directory)
    : net_(net),
      engine_(engine),
      workers_(workers),
      responder_(std::move(incidents), directory),
      directory_(std::move(directory)),
      timer_(net),
      room_(std::make_shared<SharedBytes>(StoredDocument::kMostBytes)) {
  timer_.start(std::chrono::seconds(1), [this] { every_second(); });
}

void TraceMaker::answer(TraceQuery query, DeferredResponse::Done done) {
  if (engine_ == nullptr) return;
  engine_->inspect([this, query = std::move(query), done = std::move(done)](
                       const Engine& engine, const Ingest& ingest, StateStore& store) mutable {
    auto request = std::make_shared<const TraceRequest>(
        TraceRequest::made(std::move(query), engine, ingest, store));
    boost::asio::post(net_, [this, request, done = std::move(done)]() mutable {
      if (request->query.view == TraceView::timeline) {
        make_timeline(std::move(request), std::move(done));
      } else {
        workers_.others.ask(
            [this, request](RequestFiles& files) { return responder_.respond(files, *request); },
            std::move(done));
      }
    });
  });
}

// Each takes room on the disk until it has been sent.
void TraceMaker::make_timeline(std::shared_ptr<const TraceRequest> request,
                               DeferredResponse::Done done) {
  std::erase_if(stored_, [](const auto& document) { return document.expired(); });
  if (stored_.size() >= kMostStored) return done(error_response(503, kBusy));
  auto document = std::make_shared<StoredDocument>(directory_, request->query.gzip, room_);
  stored_.push_back(document);
  workers_.timelines.ask(
      [this, request = std::move(request), document = std::move(document)](RequestFiles& files) {
        return responder_.timeline(files, *request, document);
      },
      std::move(done));
}

void TraceMaker::published(const PublishedAlerts& alerts) {
  for (const PublishedAlertPtr& alert : alerts) {
    if (alert->part || alert->state != Alert::State::firing) continue;
    if (std::ranges::find(waiting_, alert->id, &Waiting::id) != waiting_.end()) continue;
    if (waiting_.size() < kMostWaiting) {
      waiting_.push_back({alert->id});
    } else {
      ++dropped_;
    }
  }
}

// One after another: the first whose time has come.
void TraceMaker::every_second() {
  for (Waiting& each : waiting_) ++each.seconds;
  if (making_ || waiting_.empty()) return;
  make(waiting_.front().id);
}

void TraceMaker::make(const std::string& id) {
  if (engine_ == nullptr) return;
  making_ = true;
  TraceQuery query;
  query.view = TraceView::alert;
  query.alert = id;
  query.gzip = true;
  engine_->inspect([this, query = std::move(query)](const Engine& engine, const Ingest& ingest,
                                                    StateStore& store) mutable {
    auto request =
        std::make_shared<TraceRequest>(TraceRequest::made(std::move(query), engine, ingest, store));
    request->keep = true;
    boost::asio::post(net_, [this, request] {
      making_ = false;
      if (waiting_.empty()) return;
      const bool due = request->complete || waiting_.front().seconds >= kPatienceSeconds;
      if (!due) {  // others may be due
        std::rotate(waiting_.begin(), waiting_.begin() + 1, waiting_.end());
        return;
      }
      waiting_.pop_front();
      making_ = true;
      workers_.others.ask(
          [this, request](RequestFiles& files) { return responder_.respond(files, *request); },
          [this](const HttpResponse& response) {
            making_ = false;
            ++(response.status == 200 ? made_ : failed_);
          });
    });
  });
}

void TraceMaker::collect(std::vector<MetricFamily>& out) const {
  MetricFamily traces{"trainwatch_incident_traces_total",
                      "Traces of incidents: made, failed, or dropped because too many waited.",
                      MetricType::counter,
                      {},
                      {}};
  const auto add = [&traces](const char* result, std::uint64_t count) {
    traces.points.push_back({{{"result", result}}, static_cast<double>(count), {}, 0});
  };
  add("made", made_);
  add("failed", failed_);
  add("dropped", dropped_);
  out.push_back(std::move(traces));
}

}  // namespace trainwatch
