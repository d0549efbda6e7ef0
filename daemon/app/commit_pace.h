// When state is committed while no alert waits for it: after 8 MiB of input or a second, but no
// more often than that commits take a fifth of the time. With thousands of ranks nearly all state
// changes between two commits, and writing it takes longer than reading the input did. A crash
// costs reading again what came since, no alert.
#pragma once

#include <chrono>
#include <cstdint>

namespace trainwatch {

class CommitPace {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  static constexpr std::uint64_t kBytes = std::uint64_t{8} << 20U;
  static constexpr int kRest = 4;  // times what the last commit took

  void read(std::uint64_t bytes) { uncommitted_ += bytes; }
  void committed(TimePoint begun, TimePoint ended) {
    uncommitted_ = 0;
    rests_until_ = ended + kRest * (ended - begun);
  }

  bool bytes_are_due() const { return uncommitted_ >= kBytes; }
  // Asked when bytes are due, and once a second.
  bool may_commit(TimePoint now) const { return now >= rests_until_; }

 private:
  std::uint64_t uncommitted_ = 0;
  TimePoint rests_until_{};
};

}  // namespace trainwatch
