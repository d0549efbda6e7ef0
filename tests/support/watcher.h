// SPDX-License-Identifier: Apache-2.0
// A daemon without threads, sockets and clock: the real tailer, decoders, engine and rules, which
// look at the files when the test says so. The rules are those that run by default, or the test's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "daemon/app/watch_roots.h"
#include "pipeline/engine/alert_json.h"
#include "pipeline/engine/ingest.h"
#include "pipeline/engine/pipeline_report.h"
#include "pipeline/tail/posix_file_system.h"
#include "rules/catalog.h"
#include "support/alert_lines.h"

namespace trainwatch::test {

class Watcher {
 public:
  explicit Watcher(const std::string& directory, std::size_t chunk_bytes = std::size_t{256} << 10U,
                   const TimestampFilterOptions& time = {},
                   std::vector<RuleConfig> rules = Config(rule_catalog()).enabled_rules())
      : engine_(std::move(rules)),
        ingest_(engine_, ingest_options(directory, time)),
        files_({{directory, directory}}),
        tailer_(files_, {{directory, directory}}, TailLimits{.chunk_bytes = chunk_bytes}) {}

  // One look at the directory; reads at most `chunks` chunks.
  void look(std::size_t chunks = SIZE_MAX) {
    tailer_.scan(ingest_, now_ += std::chrono::seconds(1));
    for (std::size_t i = 0; i < chunks && tailer_.read(ingest_); ++i) take();
  }
  // What a daemon does once a second.
  void tick() {
    engine_.flush();
    take();
  }
  // Reads the rest; returns every alert emitted since the start.
  std::vector<AlertLine> finish() {
    look();
    look();
    ingest_.end_of_input();
    take();
    return parse_alerts(lines_);
  }

  const Ingest& ingest() const { return ingest_; }
  std::string status() const {
    TailReport report;
    report.files = tailer_.files();
    StatusHeader header{.version = "test", .ready = true};
    header.rejected_samples = true;
    SourceHealthTracker health;
    health.look(Time{}, ingest_, report);
    return status_json(header, engine_, ingest_, report, health, files_json(ingest_, report));
  }

 private:
  static IngestOptions ingest_options(const std::string& directory,
                                      const TimestampFilterOptions& time) {
    IngestOptions options = replay_input({directory}, Config(rule_catalog()));
    options.time = time;
    return options;
  }
  void take() {
    for (const Alert& alert : engine_.take_emitted()) lines_ += to_json(alert) + '\n';
  }

  Engine engine_;
  Ingest ingest_;
  PosixFileSystem files_;
  Tailer tailer_;
  ScanTime now_{};
  std::string lines_;
};

}  // namespace trainwatch::test
