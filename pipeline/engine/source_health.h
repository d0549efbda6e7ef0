// SPDX-License-Identifier: Apache-2.0
// The health of each source: what is unreadable, lagging, stuck in the middle of a record, or full
// of rejected records. Checked about once a second, in processing time; nothing here feeds back
// into alerts about the job.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "pipeline/engine/ingest.h"
#include "trainwatch/time.h"

namespace trainwatch {

struct TailReport;

struct SourceHealth {
  std::size_t files = 0;  // that the tailer knows and that had content
  std::size_t unreadable_files = 0;
  // Do not grow, and end in the middle of a record or before any that is recognised.
  std::size_t stuck_files = 0;
  double lag_seconds = 0;  // for how long the oldest of the unread bytes have been
  std::uint64_t lag_bytes = 0;
  std::uint64_t recent_rejects = 0;   // in the last kRecent
  std::uint64_t recent_lost = 0;      // bytes that vanished unread, in the last kRecent
  std::uint64_t recent_left_out = 0;  // names, subjects and series without room, likewise
  std::string example;                // an affected file and its problem
  std::string crowded;                // the file of which most was left out, and how much
  std::uint64_t most_left_out = 0;
};

class SourceHealthTracker {
 public:
  static constexpr Nanos kStuckAfter = std::chrono::seconds(30);
  static constexpr Nanos kRecent = std::chrono::minutes(10);

  // `came`: something may have come to `ingest` since the last look.
  void look(Time now, const Ingest& ingest, const TailReport& tail, bool came = true);

  const std::map<std::string, SourceHealth>& sources() const { return health_; }
  // Whether the last look found every file as the look before.
  bool as_before() const { return as_before_; }

 private:
  struct Counter {
    std::uint64_t seen = 0;
    std::uint64_t recent = 0;
    Time last{};
    // Its growth since it last paused for kRecent.
    std::uint64_t update(std::uint64_t value, Time now);
  };
  struct Memory {
    Counter rejects;
    Counter lost;
    Counter left_out;
  };
  struct Rest {
    std::uint64_t offset = 0;
    Time since{};
  };

  // Bytes that were unread at the same time.
  struct Unread {
    std::uint64_t end = 0;  // offset behind them
    Time since{};
  };

  bool is_as_before(const TailReport& tail) const;
  void look_at_files(Time now, const Ingest& ingest, const TailReport& tail);
  void look_for_unread(Time now, const TailedFile& tailed, SourceHealth& health);
  void look_at_file(Time now, const TailedFile& tailed, const Ingest::File& file,
                    SourceHealth& health);

  bool as_before_ = false;
  std::map<std::string, SourceHealth> health_;
  std::map<std::string, Memory> memory_;
  std::map<FileId, Unread> unread_;
  std::map<FileId, Rest> resting_;  // files that may be stuck
};

}  // namespace trainwatch
