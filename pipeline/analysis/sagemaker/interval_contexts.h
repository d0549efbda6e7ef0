// What the system and the framework did in each of some intervals of ranks: usage of the node, and
// how long each framework metric was active. What is read after an interval was remembered counts
// as what was read before: the last kRecent spans of the rank, and what SystemHistory has.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "pipeline/analysis/core/system_history.h"
#include "pipeline/analysis/per_rank.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class IntervalContexts {
 public:
  static constexpr std::size_t kRecent = 512;
  static constexpr std::size_t kIntervals = 128;
  static constexpr std::size_t kMetrics = 64;  // of an interval

  struct Interval {
    SubjectId rank = SubjectId::none;
    Time start{};
    Time end{};
    auto operator<=>(const Interval&) const = default;
  };
  using Active = std::pair<Symbol, Nanos>;

  explicit IntervalContexts(const Interner& interner)
      : interner_(interner), system_(interner), recent_(interner) {}

  void on(const Sample& sample);
  void on(const Span& span);

  void remember(const Interval& interval);
  void forget(const Interval& interval) { contexts_.erase(interval); }

  SystemUsage usage(const Interval& interval) const;
  // The longest first; empty for what is not remembered.
  std::vector<Active> activity(const Interval& interval) const;

  void state(StateIo& io);

 private:
  struct Recent {
    Time start{};
    Nanos duration{};
    Symbol metric = Symbol::none;
    std::uint32_t reserved = 0;  // no unset bytes in the state
  };
  struct Context {
    std::optional<SystemUsage> usage;  // when all samples up to the end were read
    std::map<Symbol, Nanos> active;

    void add(const Interval& interval, const Recent& span);
    void state(StateIo& io);
  };

  void note_usage();

  const Interner& interner_;
  SystemHistory system_;
  PerRank<std::deque<Recent>> recent_;
  std::map<Interval, Context> contexts_;
  Time last_end_ = kNoTime;    // of the intervals
  std::uint32_t samples_ = 0;  // since usages were noted
  bool open_ = false;          // an interval has no usage yet
};

}  // namespace trainwatch
