// The most recent spans of the kinds that can explain a slow interval, per subject: checkpoints,
// garbage collection, the start of loaders, and the phases of a step. Bounded: the last `kSpans` of
// each subject and kind.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "trainwatch/changed_entries.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class SpanHistory {
 public:
  void on(const Span& span);

  // How much of [start, end] spans of this kind cover; overlapping spans count twice at most up to
  // the whole interval.
  Nanos overlap(SubjectId subject, SpanKind kind, Time start, Time end) const;

  // The mean duration of the spans of this kind that ended before `time`; zero if there were none.
  Nanos usual(SubjectId subject, SpanKind kind, Time time) const;

  // Puts what changed since the last call, a row for each subject and kind; `all`: everything.
  void save(StateRows& rows, bool all);
  // Only for a new history. Leaves out subjects that are gone. False: a row is damaged.
  bool load(const SavedState& saved);

 private:
  static constexpr std::size_t kSpans = 32;
  static constexpr std::string_view kRows = "spans/";

  struct Interval {
    Time start{};
    Time end{};
  };
  struct Ring {
    std::array<Interval, kSpans> intervals{};
    std::uint32_t next = 0;
    bool changed = false;  // since it was last saved
    void state(StateIo& io) {
      io(intervals);
      io(next);
      if (next >= kSpans) io.fail();
    }
  };

  static bool explains(SpanKind kind) {
    return kind == SpanKind::checkpoint || kind == SpanKind::garbage_collection ||
           kind == SpanKind::data_init || kind == SpanKind::forward || kind == SpanKind::backward ||
           kind == SpanKind::optimizer;
  }

  using Key = std::pair<SubjectId, SpanKind>;

  std::map<Key, Ring> recent_;
  ChangedEntries<std::map<Key, Ring>> changed_;
};

inline void SpanHistory::on(const Span& span) {
  if (!explains(span.kind)) return;
  auto& entry = *recent_.try_emplace({span.subject, span.kind}).first;
  Ring& ring = entry.second;
  ring.intervals[ring.next] = {span.start, span.end()};
  ring.next = (ring.next + 1) % kSpans;
  changed_.add(entry);
}

inline Nanos SpanHistory::overlap(SubjectId subject, SpanKind kind, Time start, Time end) const {
  const auto found = recent_.find({subject, kind});
  if (found == recent_.end()) return Nanos{};
  Nanos total{};
  for (const Interval& interval : found->second.intervals) {
    const Time from = std::max(interval.start, start);
    const Time to = std::min(interval.end, end);
    if (to > from) total += to - from;
  }
  return std::min(total, end - start);
}

inline Nanos SpanHistory::usual(SubjectId subject, SpanKind kind, Time time) const {
  const auto found = recent_.find({subject, kind});
  if (found == recent_.end()) return Nanos{};
  Nanos total{};
  std::int64_t count = 0;
  for (const Interval& interval : found->second.intervals) {
    if (interval.end == Time{} || interval.end > time) continue;
    total += interval.end - interval.start;
    ++count;
  }
  return count == 0 ? Nanos{} : total / count;
}

inline void SpanHistory::save(StateRows& rows, bool all) {
  changed_.take(recent_, all, [&rows](auto& entry) {
    const std::string kind = std::to_string(static_cast<unsigned>(entry.first.second));
    rows.put(id_row(kRows, entry.first.first).append("/").append(kind),
             [&entry, key = entry.first](StateIo& io) mutable {
               io(key);
               io(entry.second);
             });
  });
}

inline bool SpanHistory::load(const SavedState& saved) {
  return for_rows(saved, kRows, [&](std::string_view, std::string_view value) {
    StateIo io = saved.open(value);
    Key key;
    io(key);
    if (io.take_gone()) return true;
    if (!io.ok() || key.second >= SpanKind::count_) return false;
    io(recent_[key]);
    return io.complete();
  });
}

}  // namespace trainwatch
