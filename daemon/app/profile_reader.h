// Answers requests for Python profiles, which are files of their own and are read when asked for.
// That may take seconds, or hang on a network mount, so each answer gets a thread of its own: it
// takes nothing from the reader and the engine, and shares nothing with any other thread but the
// question and the answer.
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

  // `files` is used by the thread of an answer only; both outlive this. An answer that takes longer
  // than `limit` is given up: shorter than HttpLimits::answer, so that the client hears why.
  ProfileReader(boost::asio::io_context& net, FileSystem& files,
                std::chrono::milliseconds limit = std::chrono::seconds(8))
      : net_(net), files_(files), limit_(limit) {}

  // All that follows is for the thread of `net`.

  // Reads the profiles below `paths`. `done` is called later, with 503 where another answer is
  // being made: there is never more than one.
  void ask(std::vector<std::string> paths, Done done);

  // No more answers; the one being made is given up at its next file call.
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
