// SPDX-License-Identifier: Apache-2.0
// Calls a function repeatedly, one interval after each call has returned, on the thread that runs
// the io_context. A wait that has already expired cannot be cancelled: its handler runs without an
// error. This timer knows that it was stopped, and never calls after stop().
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <utility>

namespace trainwatch {

class RepeatingTimer {
 public:
  explicit RepeatingTimer(boost::asio::io_context& context) : timer_(context) {}

  // At most once. The io_context has work to do until stop() is called.
  void start(boost::asio::steady_timer::duration interval, std::function<void()> call) {
    interval_ = interval;
    call_ = std::move(call);
    wait();
  }

  // On the thread of the io_context, also from within the call.
  void stop() {
    stopped_ = true;
    timer_.cancel();
  }

 private:
  void wait() {
    timer_.expires_after(interval_);
    timer_.async_wait([this](boost::system::error_code failure) {
      if (failure || stopped_) return;
      call_();
      if (!stopped_) wait();
    });
  }

  boost::asio::steady_timer timer_;
  boost::asio::steady_timer::duration interval_{};
  std::function<void()> call_;
  bool stopped_ = false;
};

}  // namespace trainwatch
