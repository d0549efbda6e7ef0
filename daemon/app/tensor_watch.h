// SPDX-License-Identifier: Apache-2.0
// What trials of SageMaker Debugger have saved: on request, and as news for the stream `tensors`
// while somebody listens. A worker's thread reads the files.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/app/file_worker.h"
#include "daemon/app/tensor_response.h"
#include "daemon/net/engine_client.h"
#include "daemon/repeating_timer.h"
#include "pipeline/tail/watch_root.h"

namespace trainwatch {

// How the worker answers.
FileWorker::Options tensor_worker_options();

// For the thread of `net`.
class TensorWatch {
 public:
  struct Listeners {
    std::function<bool()> wanted;             // somebody listens
    std::function<void(TensorNews)> publish;  // to them
  };

  // Everything must outlive this. `worker` is for this alone: nothing else uses its thread.
  TensorWatch(boost::asio::io_context& net, FileWorker& worker, std::vector<WatchRoot> roots,
              Listeners listeners);

  // `done` is called later, on this thread.
  void answer(TensorQuery query, DeferredResponse::Done done);
  // No more news.
  void stop() { timer_.stop(); }

 private:
  void every_second();

  FileWorker& worker_;
  Listeners listeners_;
  RepeatingTimer timer_;
  TensorResponder responder_;  // the worker's
  bool looking_ = false;       // for news
  unsigned looked_ = 0;        // times
};

}  // namespace trainwatch
