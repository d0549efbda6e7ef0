// SPDX-License-Identifier: Apache-2.0
// Runs the analyses on a large batch of events while the engine thread evaluates the rules on it,
// so that files written before the start are read sooner. The thread starts with the first such
// batch: a daemon that never falls behind has none, nor does one with a single processor.
//
// Owned by the engine thread; the new thread inherits its sandbox.
#pragma once

#include <functional>
#include <memory>
#include <thread>

namespace trainwatch {

class SecondThread {
 public:
  explicit SecondThread(unsigned processors = std::thread::hardware_concurrency());
  ~SecondThread();  // waits for the thread

  // Returns when both are done. What they do must not depend on their order.
  void run_both(const std::function<void()>& beside, const std::function<void()>& here);

 private:
  class Worker;
  bool usable_;
  std::unique_ptr<Worker> worker_;  // null: not begun
};

}  // namespace trainwatch
