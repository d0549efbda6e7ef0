// SPDX-License-Identifier: Apache-2.0
// Asks /proc about the writers of the files on a thread of its own, which is not in the sandbox:
// Landlock hides the files of other processes. It handles process ids and no content.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <future>
#include <thread>
#include <vector>

#include "daemon/app/writer_watch.h"

namespace trainwatch {

// Of the engine thread; created before the sandbox is entered.
class WriterThread {
 public:
  explicit WriterThread(std::vector<WatchRoot> roots);
  ~WriterThread();  // waits for the thread

  // Looks at these, unless it is still looking; at those it has not seen yet only if `all`.
  void ask(std::vector<RankProcess> writers, bool all);
  // Those that were found to be gone since the last call.
  std::vector<RankProcess> take_gone();
  // Does not wait for the answer to what was asked last.
  void forget() { gone_ = {}; }

 private:
  WriterWatch watch_;  // of the thread
  std::future<std::vector<RankProcess>> gone_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace trainwatch
