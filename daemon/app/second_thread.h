// The thread on which the analyses take a large batch while the engine's takes it to the rules, so
// that what was written before the start is read sooner. It begins with the first such batch: a
// daemon that is never behind has none, and neither has one with a single processor.
//
// Of the engine thread, whose sandbox it inherits.
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
