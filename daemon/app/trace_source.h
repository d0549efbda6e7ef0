// What ran in a span of time, as a trace or in figures, on request; and the traces of incidents,
// which are made by themselves some seconds after an alert and kept. The engine thread says where
// the events are, a worker's thread reads them.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/app/file_worker.h"
#include "daemon/app/incident_traces.h"
#include "daemon/app/repeating_timer.h"
#include "daemon/net/engine_client.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

class EngineThread;

// How the worker of TraceMaker answers.
FileWorker::Options trace_worker_options();

// For the thread of `net`.
class TraceMaker {
 public:
  // Alerts of which traces wait to be made. Of more, none is made.
  static constexpr std::size_t kMostWaiting = 64;

  // Everything must outlive this; without an engine there is no response. Events that do not fit
  // into memory wait in nameless files in `directory`.
  TraceMaker(boost::asio::io_context& net, const std::unique_ptr<EngineThread>& engine,
             FileWorker& worker, IncidentTraces incidents, std::string directory);

  // `done` is called later, on this thread.
  void answer(TraceQuery query, DeferredResponse::Done done);

  // Each that fires and is no part of an incident gets its trace.
  void published(const PublishedAlerts& alerts);
  // Makes no more traces by itself.
  void stop() { timer_.stop(); }

  void collect(std::vector<MetricFamily>& out) const;

 private:
  struct Waiting {
    std::string id;
    int seconds = 0;  // since it fired
  };
  struct Request;

  void every_second();
  void make(const std::string& id);
  HttpResponse respond(FileSystem& files, const Request& request);
  HttpResponse alert_trace(FileSystem& files, const Request& request);

  boost::asio::io_context& net_;
  const std::unique_ptr<EngineThread>& engine_;
  FileWorker& worker_;
  IncidentTraces incidents_;  // the worker's
  std::string directory_;
  RepeatingTimer timer_;
  std::deque<Waiting> waiting_;
  bool making_ = false;
  std::uint64_t made_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace trainwatch
