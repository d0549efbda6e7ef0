// Counts the data loading processes of a node, second by second. The ranks of a node write their
// own files, read one after another: a second is counted when all ranks are past it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch::dataloader {

class Seconds {
 public:
  struct Count {
    std::int64_t second = 0;  // unix time
    std::size_t processes = 0;
  };

  // False: the span comes too late to be counted, or there are too many ranks or processes.
  bool add(const Span& span) {
    const std::int64_t second = second_of(span.start);
    Rank* rank = rank_of(span.subject, second);
    if (rank == nullptr) return false;
    rank->newest = std::max(rank->newest, second);
    if (first_ == kNever) first_ = second;
    if (second <= counted_) return false;
    const auto place = std::ranges::lower_bound(pending_, second, {}, &Pending::second);
    const bool known = place != pending_.end() && place->second == second;
    Pending& entry = known ? *place : *pending_.insert(place, Pending{second, {}});
    const Process process{span.subject, span.process};
    const bool fits = entry.processes.size() < kMaxProcesses;
    if (fits && std::ranges::find(entry.processes, process) == entry.processes.end()) {
      entry.processes.push_back(process);
    }
    if (pending_.size() > kMaxPending) pending_.pop_front();
    return fits;
  }

  // The oldest complete second, once.
  std::optional<Count> take() {
    if (pending_.empty() || pending_.front().second > complete_to()) return std::nullopt;
    const Count count{pending_.front().second, pending_.front().processes.size()};
    counted_ = count.second;
    pending_.pop_front();
    return count;
  }

  void state(StateIo& io) {
    io(first_);
    io(counted_);
    io(ranks_);
    io(pending_);
    if (ranks_.size() > kMaxRanks || pending_.size() > kMaxPending + 1 ||
        !std::ranges::is_sorted(pending_, {}, &Pending::second)) {
      io.fail();
    }
  }

 private:
  static constexpr std::int64_t kNever = INT64_MIN / 2;
  static constexpr std::int64_t kDisorder = 5;  // seconds that the spans of a rank may be unordered
  // A rank this many seconds behind the others is not waited for. This long after the first span,
  // all ranks of the node are assumed to be known, since their files are about a minute long.
  static constexpr std::int64_t kWaited = 120;
  static constexpr std::size_t kMaxRanks = 256;
  static constexpr std::size_t kMaxProcesses = 4096;
  static constexpr std::size_t kMaxPending = 1024;

  using Process = std::pair<SubjectId, std::int64_t>;
  struct Pending {
    std::int64_t second = 0;
    std::vector<Process> processes;
    void state(StateIo& io) {
      io(second);
      io(processes);
    }
  };
  struct Rank {
    SubjectId subject{};
    std::int64_t newest = 0;
    void state(StateIo& io) {
      io(subject);
      io(newest);
    }
  };

  static std::int64_t second_of(Time time) {
    return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  }

  Rank* rank_of(SubjectId subject, std::int64_t second) {
    const auto known = std::ranges::find(ranks_, subject, &Rank::subject);
    if (known != ranks_.end()) return &*known;
    if (ranks_.size() >= kMaxRanks) return nullptr;
    return &ranks_.emplace_back(Rank{subject, second});
  }

  std::int64_t complete_to() const {
    std::int64_t newest = kNever;
    for (const Rank& rank : ranks_) newest = std::max(newest, rank.newest);
    if (newest - first_ < kWaited) return kNever;
    std::int64_t slowest = newest;
    for (const Rank& rank : ranks_) {
      if (newest - rank.newest <= kWaited) slowest = std::min(slowest, rank.newest);
    }
    return slowest - kDisorder;
  }

  std::int64_t first_ = kNever;
  std::int64_t counted_ = kNever;
  std::vector<Rank> ranks_;
  std::deque<Pending> pending_;  // by second
};

}  // namespace trainwatch::dataloader
