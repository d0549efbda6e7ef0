// SPDX-License-Identifier: Apache-2.0
// Answers requests for which files must be read. That may take seconds, or hang on a network mount,
// so each request gets its own thread, one after another: it takes nothing from the reader and the
// engine, and shares only the question and the result with other threads.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include "daemon/net/http_message.h"
#include "pipeline/tail/file_system.h"

namespace trainwatch {

// The files as a request sees them: every call fails after a stop or a timeout.
class RequestFiles : public FileSystem {
 public:
  // The request was stopped or has timed out; nobody waits for its result.
  virtual bool ended() = 0;
};

class FileWorker {
 public:
  // Called on the thread of the request. What the files refuse after the time is over need not be
  // reported.
  using Work = std::function<HttpResponse(RequestFiles& files)>;
  using Done = std::function<void(HttpResponse)>;

  struct Options {
    // A request that takes longer is abandoned; less than HttpLimits::answer, so that the client
    // learns why.
    std::chrono::milliseconds limit = std::chrono::seconds(8);
    std::size_t queue = 0;   // requests that may wait for the one that runs
    std::string busy{};      // the response beyond that
    std::string too_slow{};  // and that to a request which was abandoned
  };

  // `files` is used only by the thread of a request; both outlive this.
  FileWorker(boost::asio::io_context& net, FileSystem& files, Options options)
      : net_(net), files_(files), options_(std::move(options)) {}

  // Everything below is for the thread of `net`.

  // `done` is called later, with 503 if too many requests wait.
  void ask(Work work, Done done);

  // Accepts no more requests; a running one is abandoned at its next file call.
  void request_stop();
  // Waits for it until `deadline`. False: its thread hangs in a file call.
  bool wait_stopped(std::chrono::steady_clock::time_point deadline) const;

 private:
  struct Request {
    Work work;
    Done done;
  };

  void start(Request request);
  void ended();

  boost::asio::io_context& net_;
  FileSystem& files_;
  Options options_;
  bool busy_ = false;
  bool stopped_ = false;
  std::deque<Request> waiting_;
  std::future<void> end_;  // of the thread
  std::jthread thread_;
};

}  // namespace trainwatch
