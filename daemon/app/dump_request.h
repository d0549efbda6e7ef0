// SPDX-License-Identifier: Apache-2.0
// Asks the processes of a job for dumps of their Flight Recorder, before their timeout: one byte
// into each of the pipes `<prefix><rank>.pipe` that PyTorch made where the job set
// TORCH_NCCL_DEBUG_INFO_PIPE_FILE to the prefix. The job keeps running.
//
// Source: torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp, DumpPipe: any byte is a request.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "trainwatch/time.h"

namespace trainwatch {

struct DumpRequest {
  std::size_t asked = 0;   // pipes that took the byte
  std::size_t unread = 0;  // left behind by a process that is gone: nobody reads them
  std::size_t failed = 0;
  std::string error;  // of the first that failed, or why the directory cannot be read
};

// Never waits for a reader. Writes to named pipes only, and follows no symbolic links.
DumpRequest request_dumps(const std::string& prefix);

// When to ask: once when a stall opens, and not again within ten minutes. One that is open at the
// first look was asked about by the process before.
class DumpRequestPolicy {
 public:
  static constexpr Nanos kLeastBetween = std::chrono::minutes(10);

  bool is_due(bool stalled, Time now);

 private:
  std::optional<bool> stalled_;
  Time asked_ = kNoTime;
};

// Asks on a thread of its own, as directories may hang. Created before the sandbox is entered,
// which leaves no file of a job to be written to.
class DumpRequestThread {
 public:
  explicit DumpRequestThread(std::string prefix);
  ~DumpRequestThread();  // waits for the thread

  // Unless it is still at the request before.
  void ask();
  // What came of a request, once.
  std::optional<DumpRequest> take_result();

 private:
  std::string prefix_;
  std::future<DumpRequest> result_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace trainwatch
