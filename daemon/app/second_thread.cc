// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/second_thread.h"

#include <sys/resource.h>

#include <semaphore>
#include <thread>

#include "daemon/app/guarded_thread.h"

namespace trainwatch {
namespace {

constexpr int kLower = 5;  // in steps of nice(1): a third of the weight of the other threads

}  // namespace

class SecondThread::Worker {
 public:
  Worker() : thread_([this] { run_guarded("analyses", [this] { run(); }); }) {}
  ~Worker() {
    begin(nullptr);
    thread_.join();
  }

  // `task` must live until wait() returns.
  void begin(const std::function<void()>* task) {
    task_ = task;
    begun_.release();
  }
  void wait() { done_.acquire(); }

 private:
  void run() {
    // Where there are two processors, responses must not wait for it.
    ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + kLower);
    while (true) {
      begun_.acquire();
      if (task_ == nullptr) return;
      (*task_)();
      done_.release();
    }
  }

  const std::function<void()>* task_ = nullptr;
  std::binary_semaphore begun_{0};
  std::binary_semaphore done_{0};
  std::thread thread_;  // last: it uses all of the above
};

SecondThread::SecondThread(unsigned processors) : usable_(processors > 1) {}
SecondThread::~SecondThread() = default;

void SecondThread::run_both(const std::function<void()>& beside,
                            const std::function<void()>& here) {
  if (!usable_) {
    here();
    return beside();
  }
  if (worker_ == nullptr) worker_ = std::make_unique<Worker>();
  worker_->begin(&beside);
  here();
  worker_->wait();
}

}  // namespace trainwatch
