// SPDX-License-Identifier: Apache-2.0
// The reader thread: runs the tailer over the watched roots in a loop. It makes the blocking file
// calls, those below roots on network file systems by a thread of each (patient_file_system.h): a
// hung mount stalls reading there and nothing else.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "daemon/app/set_aside.h"
#include "pipeline/engine/pipeline_report.h"
#include "pipeline/tail/tailer.h"

namespace trainwatch {

struct ReaderOptions {
  std::vector<WatchRoot> roots;
  TailLimits limits;
  std::chrono::milliseconds poll_interval{1000};  // inotify only wakes it earlier
  TailCheckpoint resume{};                        // where to resume
  ContentProbe probe{};                           // called on the reader thread
  std::shared_ptr<const SetAside> set_aside{};    // null: nothing is
};

class Reader {
 public:
  // `sink` and `pass_done` are called on the reader thread.
  Reader(ReaderOptions options, TailSink& sink, std::function<void(TailReport)> pass_done);
  ~Reader();  // waits for the thread

  // Once, from the thread that also calls stop(). The reader looks for everything that is there,
  // reads it to its end, calls `at_end` on its thread, and reads no more. A file system that does
  // not answer is left out.
  void read_to_end(std::function<void()> at_end);
  // Any thread: how long the current file call has taken so far; zero without one.
  std::chrono::steady_clock::duration call_duration() const;

  // Asks the thread to end, and waits this long for it. False: it hangs in a file call, and may
  // still call `sink` and `pass_done` when that returns.
  bool stop(std::chrono::milliseconds patience);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainwatch
