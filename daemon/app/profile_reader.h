// Handles requests for Python profiles, which are read from their own files on request. Reading may
// take seconds, or hang on a network mount, so each request gets its own thread: it takes nothing
// from the reader and the engine, and shares only the question and the result with other threads.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "daemon/net/http_message.h"
#include "pipeline/tail/file_system.h"

namespace trainwatch {

class ProfileReader {
 public:
  using Done = std::function<void(HttpResponse)>;

  // `files` is used only by the thread of a request; both outlive this. A request that takes longer
  // than `limit` is abandoned; the limit is shorter than HttpLimits::answer, so that the client
  // learns why.
  ProfileReader(boost::asio::io_context& net, FileSystem& files,
                std::chrono::milliseconds limit = std::chrono::seconds(8))
      : net_(net), files_(files), limit_(limit) {}

  // Everything below is for the thread of `net`.

  // Reads the profiles below `paths`. `done` is called later, with 503 if another request is
  // running: there is never more than one.
  void ask(std::vector<std::string> paths, Done done);

  // Accepts no more requests; a running one is abandoned at its next file call.
  void request_stop();
  // Waits for it until `deadline`. False: its thread hangs in a file call.
  bool wait_stopped(std::chrono::steady_clock::time_point deadline) const;

 private:
  boost::asio::io_context& net_;
  FileSystem& files_;
  std::chrono::milliseconds limit_;
  bool busy_ = false;
  bool stopped_ = false;
  std::future<void> end_;  // of the thread
  std::jthread thread_;
};

}  // namespace trainwatch
