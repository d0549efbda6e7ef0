// When the state of things is shown as a new snapshot.
//
// Each second to whoever looks: clients that stay, and for a while whoever has asked. Every five
// seconds if nothing comes. While nobody looks, every ten seconds; who asks in between has a
// snapshot made (EngineThread::refresh). While much is read, each second: a question would wait
// for its turn.
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
  static constexpr int kUnseen = 10;  // the same while nobody looks
  static constexpr int kLooks = 5;    // after a question, somebody still looks
  static constexpr std::uint64_t kBusy = std::uint64_t{1} << 20U;  // bytes read in a second
  // A snapshot is new enough for who asks for one:
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

  // Whether input has come lately: what it changed may show only now.
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
