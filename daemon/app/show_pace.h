// SPDX-License-Identifier: Apache-2.0
// Decides when to publish a new snapshot.
//
// Every second while somebody is looking, or every five seconds if there is no new input. Connected
// clients are looking, and so is whoever asked within the last few seconds. Every ten seconds while
// nobody is; a request in between gets a snapshot of its own (EngineThread::refresh). Every second
// under heavy input, because such a request would have to queue behind it.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

namespace trainwatch {

class ShowPace {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Seconds:
  static constexpr int kSettled = 3;  // without input
  static constexpr int kQuiet = 5;    // from one snapshot to the next while nothing comes
  static constexpr int kUnseen = 10;  // the same while nobody is looking
  static constexpr int kLooks = 5;    // how long a request counts as looking
  static constexpr std::uint64_t kBusy = std::uint64_t{1} << 20U;  // bytes read in a second
  // A request reuses a snapshot that is younger than this:
  static constexpr TimePoint::duration kFresh = std::chrono::milliseconds(500);

  // Input has come.
  void read(std::uint64_t bytes) {
    this_second_ += bytes;
    quiet_ = 0;
  }
  void second_passed() {
    ++quiet_;
    ++since_question_;
    ++since_shown_;
    busy_ = std::exchange(this_second_, 0) >= kBusy;
  }
  // Somebody has asked for a snapshot.
  void asked() { since_question_ = 0; }
  // Whether somebody looks all the time.
  void set_audience(bool there) { audience_ = there; }
  void shown(TimePoint now) {
    shown_ = now;
    since_shown_ = 0;
  }

  // Whether there was input recently: its effects may show only now.
  bool came() const { return quiet_ <= kQuiet; }
  // Something may have to be said of this second.
  bool news_is_due() const { return quiet_ <= kSettled || quiet_ % kQuiet == 0; }
  bool somebody_looks() const { return audience_ || busy_ || since_question_ <= kLooks; }
  bool is_fresh(TimePoint now) const { return now - shown_ < kFresh; }
  bool is_due() const { return since_shown_ >= kUnseen || (somebody_looks() && news_is_due()); }

 private:
  std::uint64_t this_second_ = 0;
  bool busy_ = false;  // in the last second
  bool audience_ = false;
  int quiet_ = 0;           // seconds since input came
  int since_question_ = 0;  // seconds
  int since_shown_ = 0;     // the same
  TimePoint shown_{};       // the last snapshot
};

}  // namespace trainwatch
