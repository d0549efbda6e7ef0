// SPDX-License-Identifier: Apache-2.0
// The orderly end of the daemon: what is in the files is read to their end, judged, committed and
// delivered before anything closes. Net thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <functional>

#include "daemon/repeating_timer.h"
#include "trainwatch/time.h"

namespace trainwatch {

class Drain {
 public:
  // A file call that takes longer hangs: nothing more can be read.
  static constexpr std::chrono::seconds kFileCallPatience{1};

  enum class Outcome : std::uint8_t {
    complete,
    hangs,     // a file call does
    too_long,  // longer than the timeout
  };
  using Done = std::function<void()>;

  // `read` and `judge` begin something whose end they report by calling `done`, on any thread.
  struct Stages {
    std::function<void(Done done)> read;   // everything there is
    std::function<void(Done done)> judge;  // and commit it
    // Asked repeatedly: for how long a file call has been waited for, and whether everything that
    // was committed has left the store.
    std::function<std::chrono::steady_clock::duration()> file_call;
    std::function<bool()> delivered;
    std::function<void(Outcome)> finished;  // the last call
  };

  // `net` must run, or not exist, until `finished` was called.
  Drain(boost::asio::io_context& net, Stages stages)
      : net_(net), stages_(std::move(stages)), timer_(net) {}

  void begin(Nanos timeout);
  bool begun() const { return begun_; }
  // Nothing more is called.
  void stop();

 private:
  enum class Stage : std::uint8_t { reading, judging, delivering, over };

  void look();
  void judge();
  void finish(Outcome outcome);
  Done on_net(void (Drain::*then)());
  void judged() { stage_ = Stage::delivering; }

  boost::asio::io_context& net_;
  Stages stages_;
  RepeatingTimer timer_;
  std::chrono::steady_clock::time_point deadline_{};
  Stage stage_ = Stage::reading;
  bool begun_ = false;
};

}  // namespace trainwatch
