// SPDX-License-Identifier: Apache-2.0
// What trainwatch runs with: defaults, then the YAML file, then environment and flags.
//
// Every key of the file is a row of one of the tables in config_table.h; parsing, bounds, flags and
// documentation come from there. config/trainwatch.yaml explains each key to the reader.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/config/environment_names.h"
#include "daemon/config/receiver_config.h"
#include "daemon/config/silence.h"
#include "daemon/config/web_config_file.h"
#include "daemon/net/client_limits.h"
#include "pipeline/decode/declared/declaration.h"
#include "pipeline/engine/series_budget.h"
#include "pipeline/state/state_store.h"
#include "pipeline/tail/tailer.h"
#include "pipeline/timestamps/event_time.h"
#include "trainwatch/analysis.h"
#include "trainwatch/interner.h"
#include "trainwatch/result.h"
#include "trainwatch/rule.h"
#include "trainwatch/time.h"

namespace trainwatch {

using RuleCatalog = std::span<const RuleSpec* const>;

enum class FollowSymlinks : std::uint8_t { off, within_root };

// A directory tree, or one file, to watch.
struct WatchConfig {
  std::string path;
  std::string source;                // its name in metrics and status; empty: the path
  std::string job;                   // empty: what the files say
  std::optional<std::int32_t> rank;  // for files that do not say
  FollowSymlinks follow_symlinks = FollowSymlinks::off;
};

struct WebConfig {
  std::string listen_address = "127.0.0.1:9797";
  std::string config_file;                 // TLS and login (web_config_file.h); empty: neither
  std::vector<std::string> allowed_hosts;  // beside the loopback names
  bool insecure = false;                   // serve other hosts without a login
  bool debug = false;                      // show what was rejected
  std::string external_url;                // where people find the page; empty: the address above
  bool enable_admin_api = false;           // silences may be set
  bool enable_lifecycle = false;           // POST /-/reload
};

struct StorageConfig {
  std::string path = "trainwatch-data";
  bool allow_network = false;
  Retention retention;
  std::size_t incident_trace_bytes = std::size_t{256} << 20U;
};

struct ProcessConfig {
  std::string user;  // whom root becomes; empty: stays who it is
  bool sandbox = true;
  Nanos drain_timeout = std::chrono::seconds{10};  // 0: stops at once
  bool ends_with_job = false;                      // a stop means that the job is over
};

enum class LogLevel : std::uint8_t { debug, info, warn, error };
enum class LogFormat : std::uint8_t { logfmt, json };

struct LogConfig {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::logfmt;
};

struct TailConfig {
  Nanos poll_interval = std::chrono::milliseconds{250};
  TailLimits limits;  // as tail_limits() completes them
};

struct InputConfig {
  TimestampFilterOptions time;
  InternerLimits names;
  Nanos forget_after = std::chrono::hours{24};
  bool environment_names = true;
};

struct StreamConfig {
  Nanos heartbeat = WsLimits{}.heartbeat;
};

struct HangConfig {
  bool request_dump = false;
  std::string pipe_prefix;  // the job's TORCH_NCCL_DEBUG_INFO_PIPE_FILE
};

struct RuleEntry {
  RuleConfig config;
  std::optional<bool> enabled;          // empty: as `rules.default_enabled` and the rule say
  std::set<std::string_view> set_keys;  // parameters that are set by name

  explicit RuleEntry(const RuleSpec& spec) : config(spec) {}
};

struct Config {
  std::vector<WatchConfig> watch;
  WebConfig web;
  StorageConfig storage;
  ProcessConfig process;
  LogConfig log;
  TailConfig tail;
  InputConfig input;
  StreamConfig stream;
  HangConfig hang;
  std::vector<ReceiverConfig> receivers;
  std::vector<Silence> silences;
  std::vector<FormatDeclaration> formats;  // beside the presets
  MetricsConfig metrics;
  ClientLimits clients;                         // of `web` and `stream`
  std::vector<std::string> analyses = {"all"};  // names, or "all"
  bool rules_default_enabled = true;
  RulePreset rules_preset = RulePreset::trainwatch;
  std::vector<RuleEntry> rules;  // all of the catalog, in its order
  EnvironmentNames environment;  // nothing if `input` does not want it

  explicit Config(RuleCatalog catalog);
  // The rules that run, with the preset's parameters where none are set by name.
  std::vector<RuleConfig> enabled_rules() const;
  // The analyses that run.
  std::vector<const AnalysisSpec*> enabled_analyses() const;
};

// Fails if other hosts could connect without a login and `insecure` does not allow it.
Status check_exposure(const WebConfig& web, const Access& access);

// What the web configuration file of `web` says, which must not be too little; without one,
// Access(). Blocks.
Result<LoadedAccess> load_access(const WebConfig& web);

// What overrides the file: flags and environment variables, as text.
struct ConfigFlags {
  // Rows of settings_table() and their values: {"web.listen_address", {"127.0.0.1:0"}}.
  std::vector<std::pair<std::string, std::vector<std::string>>> settings{};
  std::vector<std::string> watch{};                 // when given, replaces the file's
  std::optional<std::vector<std::string>> rules{};  // exactly these are enabled
  std::vector<std::string> set{};                   // "rule.param=value"
};

// Reads a file on top of the defaults. The error has one line per mistake, each with file, line,
// path and bound: "trainwatch.yaml:14: rules.step_spike.sigma: 0.5 is outside 1..50".
Result<Config> load_config_file(const std::string& path, RuleCatalog catalog);
// The same of a text; `name` stands for the file in messages.
Result<Config> parse_config(const std::string& text, const std::string& name, RuleCatalog catalog);

// Puts flags on top. The error names the flag.
Status apply_flags(const ConfigFlags& flags, Config& config);

// Both, and the names in the environment; an empty `path` means the defaults. This is what a reload
// calls again.
Result<Config> load_config(const std::string& path, const ConfigFlags& flags, RuleCatalog catalog);

}  // namespace trainwatch
