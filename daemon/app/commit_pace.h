// SPDX-License-Identifier: Apache-2.0
// When state is committed.
//
// With an alert: at once. While more input is waiting, as in a backlog of many files, alerts share
// a commit: there is one every 100 ms, or less often, but at least once a second, if commits would
// otherwise take more than a twentieth of the time.
//
// Without an alert: after 8 MiB of input or ten seconds, but no more often than that commits take
// a twentieth of the time. With thousands of ranks nearly all state changes between two commits,
// and writing it takes longer than reading the input did. A crash costs reading again what came
// since, no alert.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace trainwatch {

class CommitPace {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  static constexpr std::uint64_t kBytes = std::uint64_t{8} << 20U;
  static constexpr std::uint64_t kTrim = std::uint64_t{4} << 20U;
  static constexpr std::uint64_t kTrimQuiet = std::uint64_t{256} << 10U;
  static constexpr int kRest = 19;  // times what the last commit took
  // The time between two commits with alerts while more input is waiting:
  static constexpr TimePoint::duration kLeastTogether = std::chrono::milliseconds(100);
  static constexpr TimePoint::duration kMostTogether = std::chrono::seconds(1);

  static constexpr int kCommits = 10;  // seconds from one commit to the next

  // Input has come.
  void read(std::uint64_t bytes) {
    uncommitted_ += bytes;
    unreturned_ += bytes;
    quiet_ = 0;
  }
  void second_passed() {
    ++quiet_;
    ++since_commit_;
  }
  void committed(TimePoint begun, TimePoint ended) {
    untrimmed_ += std::exchange(uncommitted_, 0);
    since_commit_ = 0;
    const auto rest = kRest * (ended - begun);
    rests_until_ = ended + rest;
    alerts_together_until_ = ended + std::clamp(rest, kLeastTogether, kMostTogether);
  }

  bool bytes_are_due() const { return uncommitted_ >= kBytes; }
  // After second_passed().
  bool second_is_due() const { return since_commit_ >= kCommits; }
  // Whether what was freed is worth giving back: kTrim bytes were committed since it last said so,
  // or kTrimQuiet bytes were read and a second has passed without more.
  bool take_trim() {
    const bool committed = untrimmed_ >= kTrim;
    const bool quiet = quiet_ > 1 && unreturned_ >= kTrimQuiet;
    if (committed) untrimmed_ = 0;
    if (committed || quiet) unreturned_ = 0;
    return committed || quiet;
  }
  // Asked when one of them is due.
  bool may_commit(TimePoint now) const { return now >= rests_until_; }
  // Asked when an alert waits.
  bool may_commit_alerts(TimePoint now, bool more_input_waits) const {
    return !more_input_waits || now >= alerts_together_until_;
  }

 private:
  std::uint64_t uncommitted_ = 0;
  std::uint64_t untrimmed_ = 0;   // of what was committed
  std::uint64_t unreturned_ = 0;  // of what was read
  int quiet_ = 0;                 // seconds since input came
  int since_commit_ = 0;          // seconds
  TimePoint rests_until_{};
  TimePoint alerts_together_until_{};
};

}  // namespace trainwatch
