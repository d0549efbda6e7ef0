// SPDX-License-Identifier: Apache-2.0
// A thread that makes file calls which may hang: on a network file system whose server is gone,
// say. Who asks waits for so long, then gives the call up; nothing else is asked until it has
// returned.
//
// For one asking thread.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

#include "pipeline/tail/file_system.h"

namespace trainwatch {

class RootThread {
 public:
  using Clock = std::chrono::steady_clock;

  // `make` is called here; the thread alone uses what it returns.
  RootThread(const std::function<std::unique_ptr<FileSystem>()>& make,
             std::chrono::milliseconds patience);
  // Waits for the thread, unless it hangs: then it ends when its call returns.
  ~RootThread();
  RootThread(const RootThread&) = delete;
  RootThread& operator=(const RootThread&) = delete;

  // What `work`, a function from a FileSystem to a Result, returns on the thread; an error if that
  // takes too long, or if an earlier call has not returned yet. It must own all that it uses.
  template <class Work>
  auto call(Work work) -> std::invoke_result_t<Work&, FileSystem&> {
    using Answer = std::invoke_result_t<Work&, FileSystem&>;
    if (!answers()) return no_answer();
    const auto promise = std::make_shared<std::promise<Answer>>();
    std::future<Answer> answer = promise->get_future();
    ++asked_;
    asked_at_ = Clock::now();
    boost::asio::post(state_->context,
                      [&state = *state_, promise, work = std::move(work)]() mutable {
                        Answer found = work(*state.files);
                        ++state.answered;
                        promise->set_value(std::move(found));
                      });
    if (answer.wait_for(patience_) != std::future_status::ready) return no_answer();
    return answer.get();
  }
  // Closes a file there, as closing may hang as well. Returns at once.
  void close(std::shared_ptr<OpenFile> file);

  // No call is waited for.
  bool answers() const { return state_->answered == asked_; }
  // Since the call that hangs was made; zero if none does.
  Clock::duration silence() const;

 private:
  struct State {
    boost::asio::io_context context{1};
    std::unique_ptr<FileSystem> files;
    std::atomic<std::uint64_t> answered{0};
  };
  static Error no_answer();

  std::chrono::milliseconds patience_;
  std::shared_ptr<State> state_;  // shared with the thread
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
  std::uint64_t asked_ = 0;
  Clock::time_point asked_at_{};
};

}  // namespace trainwatch
