// SPDX-License-Identifier: Apache-2.0
// The most recent spans of the kinds that can explain a slow interval, per subject: checkpoints,
// garbage collections, compilations, the start of loaders, and the phases of a step. Bounded: the
// last `kSpans` of each subject and kind.
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
#include "trainwatch/subject_map.h"

namespace trainwatch {

class SpanHistory {
 public:
  void on(const Span& span);

  // How much of [start, end] spans of this kind cover; overlapping spans count twice at most up to
  // the whole interval.
  Nanos overlap(SubjectId subject, SpanKind kind, Time start, Time end) const;

  // The mean duration of the spans of this kind that ended before `time`; zero if there were none.
  Nanos usual(SubjectId subject, SpanKind kind, Time time) const;

  // Puts what changed since the last call, a row for each subject; `all`: everything.
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
    void state(StateIo& io) {
      io(intervals);
      io(next);
      if (next >= kSpans) io.fail();
    }
  };

  static bool explains(SpanKind kind) {
    constexpr auto bit = [](SpanKind one) {
      return std::uint32_t{1} << static_cast<unsigned>(one);
    };
    constexpr std::uint32_t kExplaining =
        bit(SpanKind::checkpoint) | bit(SpanKind::garbage_collection) | bit(SpanKind::compilation) |
        bit(SpanKind::data_init) | bit(SpanKind::forward) | bit(SpanKind::backward) |
        bit(SpanKind::optimizer);
    return (kExplaining & bit(kind)) != 0;
  }

  struct Kinds {
    std::map<SpanKind, Ring> rings;
    bool changed = false;  // since it was last saved
    void state(StateIo& io) {
      io(rings);
      if (!rings.empty() && rings.rbegin()->first >= SpanKind::count_) io.fail();
    }
  };

  // Null: there were none.
  const Ring* find(SubjectId subject, SpanKind kind) const {
    const Kinds* const kinds = recent_.find(subject);
    if (kinds == nullptr) return nullptr;
    const auto found = kinds->rings.find(kind);
    return found == kinds->rings.end() ? nullptr : &found->second;
  }

  SubjectMap<Kinds> recent_;
  ChangedEntries<SubjectMap<Kinds>> changed_;
};

inline void SpanHistory::on(const Span& span) {
  if (!explains(span.kind)) return;
  auto& entry = recent_.entry(span.subject);
  Ring& ring = entry.second.rings[span.kind];
  ring.intervals[ring.next] = {span.start, span.end()};
  ring.next = (ring.next + 1) % kSpans;
  changed_.add(entry);
}

inline Nanos SpanHistory::overlap(SubjectId subject, SpanKind kind, Time start, Time end) const {
  const Ring* const ring = find(subject, kind);
  if (ring == nullptr) return Nanos{};
  Nanos total{};
  for (const Interval& interval : ring->intervals) {
    const Time from = std::max(interval.start, start);
    const Time to = std::min(interval.end, end);
    if (to > from) total += to - from;
  }
  return std::min(total, end - start);
}

inline Nanos SpanHistory::usual(SubjectId subject, SpanKind kind, Time time) const {
  const Ring* const ring = find(subject, kind);
  if (ring == nullptr) return Nanos{};
  Nanos total{};
  std::int64_t count = 0;
  for (const Interval& interval : ring->intervals) {
    if (interval.end == Time{} || interval.end > time) continue;
    total += interval.end - interval.start;
    ++count;
  }
  return count == 0 ? Nanos{} : total / count;
}

inline void SpanHistory::save(StateRows& rows, bool all) {
  changed_.take(recent_, all, [&rows](auto& entry) {
    rows.put(id_row(kRows, entry.first), [&entry](StateIo& io) { io(entry.second); });
  });
}

inline bool SpanHistory::load(const SavedState& saved) {
  return for_rows(saved, kRows, [&](std::string_view digits, std::string_view value) {
    const auto subject = saved.subject(digits);
    if (!subject) return true;
    StateIo io = saved.open(value);
    io(recent_[*subject]);
    return io.complete();
  });
}

}  // namespace trainwatch
