// SPDX-License-Identifier: Apache-2.0
// What the host did while the profiler watched: its events as rows, and when it was active at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/kineto/correlation_index.h"
#include "pipeline/decode/kineto/cycle_rows.h"
#include "pipeline/decode/kineto/event_category.h"
#include "pipeline/decode/kineto/launch_correlator.h"
#include "pipeline/decode/kineto/profiler_event.h"
#include "trainwatch/cycle_trace.h"
#include "trainwatch/diagnostics.h"

namespace trainwatch {

// Fills CycleTrace::host and syncs while a document is read, for analyses that ask for host events.
// An event costs 32 bytes, a call 16 more until the document is complete.
//
// Rows are the "X" events with a duration whose category is neither device activity, nor a device
// annotation, nor "Trace". Threads are numbered in the order in which the file names them.
class HostEvents {
 public:
  static constexpr std::size_t kMostRows = std::size_t{1} << 20U;
  static constexpr std::size_t kMostSyncs = std::size_t{1} << 18U;
  static constexpr std::size_t kMostThreads = std::size_t{1} << 14U;

  // nullopt: it was taken, or is not a host event.
  std::optional<RejectReason> take(const ProfilerEvent& event, CycleNames& names);

  // About how much memory they take.
  std::size_t bytes() const {
    return rows_.size() * sizeof(HostEvent) + calls_.size() * sizeof(Call) +
           syncs_.size() * (sizeof(SyncRow) + sizeof(Named)) + threads_.size() * kOfThread;
  }
  // No more events will follow. Links the rows to launches, adds `base_ns` to their times, and
  // moves them into `cycle` in its order. Call before LaunchCorrelator::finish(): calls that
  // synchronisations name become launches too, without rows.
  void finish(CycleTrace& cycle, LaunchCorrelator& correlator, std::int64_t base_ns);

 private:
  static constexpr std::size_t kOfThread = 128;

  struct Call {
    std::int64_t correlation = 0;
    std::uint32_t row = 0;  // index into rows_
  };
  // The correlations of the calls that a synchronisation names.
  struct Named {
    std::int64_t call = CorrelationIndex::kNone;
    std::int64_t event_record = CorrelationIndex::kNone;
  };

  std::optional<RejectReason> add_sync(const ProfilerEvent& event, CycleNames& names);
  std::optional<std::uint32_t> thread_of(const ProfilerEvent& event);
  void link_calls(CycleTrace& cycle, LaunchCorrelator& correlator);
  void link_syncs(CorrelationIndex& launches);

  std::vector<HostEvent> rows_;
  std::vector<Call> calls_;  // of rows_, those with a correlation
  std::vector<SyncRow> syncs_;
  std::vector<Named> named_;  // as syncs_
  std::unordered_map<std::string, std::uint32_t> threads_;
  std::string last_thread_;  // events of a thread mostly follow each other
  std::uint32_t last_thread_number_ = 0;
  std::uint64_t left_out_ = 0;
  StringReader strings_;
};

// When the host did something that the profiler saw: operators, runtime calls and data waits, on
// any thread. Long gaps between them are pauses: garbage collection, Python code, a lock, or
// another process on the same core.
//
// Millions of intervals arrive in nearly any order. They are merged unless they are farther apart
// than the shortest pause, so that few remain.
class HostActivity {
 public:
  static constexpr std::int64_t kShortestPauseNs = 10'000'000;
  static constexpr std::size_t kMostParts = std::size_t{1} << 16U;

  void add(const Interval& active);
  std::size_t bytes() const { return parts_.size() * sizeof(Interval); }

  // By start. Empty if there were too many parts.
  std::vector<Interval> pauses() const;

 private:
  std::vector<Interval> parts_;  // by start, farther apart than the shortest pause
  bool too_many_ = false;
};

}  // namespace trainwatch
