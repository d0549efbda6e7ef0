// SPDX-License-Identifier: Apache-2.0
// The condition of the pipeline itself, for /metrics and /api/v1/status: sources, files, rejects,
// rules and alerts. Nothing here feeds back into alerts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/engine/engine.h"
#include "pipeline/engine/ingest.h"
#include "pipeline/engine/source_health.h"
#include "pipeline/tail/tailer.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

// What the tailer knows and Ingest does not, as of the last pass.
struct TailReport {
  std::vector<TailedFile> files;
  bool same_files = false;  // unchanged since the previous report; `files` is empty
  std::uint64_t files_dropped = 0;
  std::size_t files_limit = 0;
  std::string watch_degraded;              // why inotify does not help; empty: it does
  SkippedPaths skipped;                    // below the watched paths
  std::vector<std::string> missing_roots;  // watched paths that do not exist
  double missing_seconds = 0;              // for how long one of them has been missing
  double silent_seconds = 0;               // for how long a file system has not answered
  double lag_seconds = 0;                  // since the oldest unread byte was seen
  bool complete = false;  // the pass is over: everything its scan found has been read
  // All that had been written then has been read, but for what cannot be read; of a file system
  // that does not answer, that is so only after a minute.
  ScanTime read_until{};
};

// Appends the families about the pipeline. `left_out`: series for which the page has no room.
void collect_pipeline_metrics(const Engine& engine, const Ingest& ingest, const TailReport& tail,
                              const SourceHealthTracker& tracker, std::uint64_t left_out,
                              std::vector<MetricFamily>& out);

struct StatusHeader {
  std::string version;
  Time started_at = kNoTime;
  bool ready = false;
  std::string storing{};          // why state and alerts cannot be stored; empty: they can
  std::string sandbox{};          // what the process has given up, for people
  bool rejected_samples = false;  // with the first bytes of rejected records
};

// The part of the body about each file.
std::string files_json(const Ingest& ingest, const TailReport& tail);
// The body of /api/v1/status.
std::string status_json(const StatusHeader& header, const Engine& engine, const Ingest& ingest,
                        const TailReport& tail, const SourceHealthTracker& tracker,
                        std::string_view files);

// The body of /api/v1/runs. `monitor`: monitor_sentence().
std::string runs_json(const Engine& engine, Time now, std::string_view monitor);
// The same objects, one per line.
std::string runs_lines(const Engine& engine);

}  // namespace trainwatch
