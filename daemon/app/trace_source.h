// SPDX-License-Identifier: Apache-2.0
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
#include "daemon/app/trace_response.h"
#include "daemon/net/engine_client.h"
#include "daemon/repeating_timer.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

class EngineThread;

// How the workers of TraceMaker answer.
FileWorker::Options trace_worker_options();
FileWorker::Options timeline_worker_options();

// For the thread of `net`.
class TraceMaker {
 public:
  // Alerts of which traces wait to be made. Of more, none is made.
  static constexpr std::size_t kMostWaiting = 64;

  struct Workers {
    FileWorker& timelines;  // which may take long
    FileWorker& others;
  };

  // Everything must outlive this; without an engine there is no response. Timelines, and events
  // that do not fit into memory, wait in nameless files in `directory`.
  TraceMaker(boost::asio::io_context& net, const std::unique_ptr<EngineThread>& engine,
             Workers workers, IncidentTraces incidents, std::string directory);

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

  void every_second();
  void make(const std::string& id);
  void make_timeline(std::shared_ptr<const TraceRequest> request, DeferredResponse::Done done);

  boost::asio::io_context& net_;
  const std::unique_ptr<EngineThread>& engine_;
  Workers workers_;
  TraceResponder responder_;  // the workers'
  std::string directory_;
  RepeatingTimer timer_;
  std::shared_ptr<SharedBytes> room_;  // of all timelines
  std::vector<std::weak_ptr<StoredDocument>> stored_;
  std::deque<Waiting> waiting_;
  bool making_ = false;
  std::uint64_t made_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace trainwatch
