// SPDX-License-Identifier: Apache-2.0
// The options of each command. Plain values. (RunOptions: daemon/app/app.h)
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/terminal/text_style.h"
#include "pipeline/tensors/tensor_index.h"
#include "trainwatch/cycle_trace.h"
#include "trainwatch/time.h"
#include "trainwatch/verdict.h"

namespace trainwatch {

// What the commands on finished files have in common.
struct OfflineOptions {
  std::string config_file;         // empty: the defaults
  ConfigFlags flags{};             // of the commands that have them
  std::vector<std::string> paths;  // at least one
  bool progress = false;           // asked for, or standard error is a terminal
  TextStyle err_style{};           // of standard error
};

struct ReplayOptions : OfflineOptions {
  bool text = false;                // sentences instead of JSON
  TextStyle out_style{};            // of standard output
  bool parts = false;               // also alerts for which another one speaks
  std::optional<Severity> fail_on;  // exit code 3 for an alert at or above it
};

struct RunsOptions : OfflineOptions {
  bool text = false;      // sentences instead of JSON
  TextStyle out_style{};  // of standard output
};

struct AnalyzeOptions : OfflineOptions {
  std::vector<std::string> what;        // names of analyses, at least one
  std::optional<std::string> job;       // needed if the configuration names several
  std::optional<std::int64_t> from_us;  // only of events that touch the interval between these
  std::optional<std::int64_t> to_us;
  StepSelection steps = StepSelection::included;  // of the cycles of profilers
  std::string op;                                 // part of operators' names; empty: all
};

struct ReportOptions : OfflineOptions {
  std::string output;              // a file, or "-" for standard output
  std::optional<std::string> job;  // as above
};

struct TimelineOptions : OfflineOptions {
  std::string output;     // a file, compressed where it ends in .gz, or "-" for standard output
  bool counters = false;  // traces of profilers with counters of queues and bandwidth
  StepSelection steps = StepSelection::included;  // of which the counters are
  enum class Unit : std::uint8_t { time, step };
  Unit unit = Unit::time;
  std::optional<std::int64_t> start;  // microseconds since the epoch, or a step
  std::optional<std::int64_t> end;
  std::vector<std::string> suffixes;  // of the names of files; empty: all
  bool alerts = true;                 // as instants
  bool low_gpu = false;               // instants where a GPU is little used
};

struct FollowOptions {
  std::string url;  // ws://, wss://, http:// or https://, without a path: /api/v1/stream
  std::string http_config_file;  // login and TLS; empty: what the URL says
  // Print alerts after this one. Absent: new alerts only, or those that `name` has not
  // acknowledged.
  std::optional<std::uint64_t> after;
  std::string rule;                 // only of this rule, or these with commas; empty: all
  std::string name;                 // acknowledge printed alerts under it; empty: do not
  bool text = false;                // sentences and a state line instead of JSON
  Severity least = Severity::info;  // of the alerts that are printed
  TextStyle out_style{};
  TextStyle err_style{};
  std::ostream* out =
      nullptr;  // alerts, as text or one JSON object per line; null: standard output
  std::ostream* err = nullptr;                // everything else; null: standard error
  std::stop_token stop;                       // ends it, like SIGINT and SIGTERM do
  std::chrono::milliseconds first_wait{200};  // before a reconnection; doubles up to ...
  std::chrono::milliseconds last_wait{10'000};
};

struct TensorsOptions : OfflineOptions {
  std::optional<std::string> collection;
  std::optional<std::string> regex;  // searched for in names
  std::optional<std::int64_t> step;  // of `mode`; of no mode, a global step
  std::optional<TensorMode> mode;
  std::optional<std::string> worker;
  std::optional<std::string> reduction;  // one number instead of the values
  std::string slice;                     // of the values; empty: all
  enum class Format : std::uint8_t { json, npy, png };
  Format format = Format::json;  // of exactly one tensor, unless it is json
};

// No path: the formats themselves are listed.
struct FormatsOptions : OfflineOptions {
  bool json = false;  // instead of text
};

struct DocsOptions {
  std::string name;  // empty: list them
};

struct SampleOptions {
  std::string out;  // the job's directory; created if missing
  Nanos interval = std::chrono::milliseconds{500};
  Nanos duration{};  // 0: until SIGINT or SIGTERM
  std::string node;  // empty: the host's name
  int pid = 0;       // also stop when this process ends; 0: none
  std::string proc = "/proc";
  std::string cgroups = "/sys/fs/cgroup";
};

}  // namespace trainwatch
