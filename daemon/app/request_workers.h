// SPDX-License-Identifier: Apache-2.0
// The workers for requests that read files. Each kind of request has one of its own, so that quick
// requests do not wait behind slow ones.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <vector>

#include "daemon/app/analysis_source.h"
#include "daemon/app/file_worker.h"
#include "daemon/app/tensor_watch.h"
#include "daemon/app/trace_source.h"
#include "pipeline/tail/posix_file_system.h"

namespace trainwatch {

class RequestWorkers {
 public:
  // `net` must outlive this. Files below `roots` can be read.
  RequestWorkers(boost::asio::io_context& net, const std::vector<WatchRoot>& roots)
      : profiles_(net, roots, profile_worker_options()),
        timelines_(net, roots, timeline_worker_options()),
        traces_(net, roots, trace_worker_options()),
        tensors_(net, roots, tensor_worker_options()) {}

  FileWorker& profiles() { return profiles_.worker; }
  FileWorker& tensors() { return tensors_.worker; }
  TraceMaker::Workers traces() { return {timelines_.worker, traces_.worker}; }

  // See FileWorker.
  void request_stop() {
    for (Worker* const each : all()) each->worker.request_stop();
  }
  bool wait_stopped(std::chrono::steady_clock::time_point deadline) {
    bool stopped = true;
    for (Worker* const each : all()) stopped = each->worker.wait_stopped(deadline) && stopped;
    return stopped;
  }

 private:
  struct Worker {
    Worker(boost::asio::io_context& net, const std::vector<WatchRoot>& roots,
           FileWorker::Options options)
        : files(roots), worker(net, files, std::move(options)) {}

    PosixFileSystem files;
    FileWorker worker;
  };

  std::array<Worker*, 4> all() { return {&profiles_, &timelines_, &traces_, &tensors_}; }

  Worker profiles_;
  Worker timelines_;
  Worker traces_;
  Worker tensors_;
};

}  // namespace trainwatch
