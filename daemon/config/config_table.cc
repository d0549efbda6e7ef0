// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/config_table.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "daemon/config/client_limit_field.h"
#include "daemon/config/config_fields.h"
#include "daemon/config/config_text.h"
#include "daemon/http_client/http_target.h"
#include "daemon/net/url.h"
#include "pipeline/analysis/catalog.h"

namespace trainwatch {
namespace {

using namespace config_fields;

std::string print_list(const std::vector<std::string>& items) {
  std::string all;
  for (const std::string& item : items) all.append(all.empty() ? "" : ", ").append(item);
  return "[" + all + "]";
}

Status set_listen_address(Config& config, Values values) {
  if (!parse_listen_address(values[0])) return Error{"'" + values[0] + "' is not HOST:PORT"};
  config.web.listen_address = values[0];
  return success();
}

ConfigField<Config> listen_address_field() {
  return {"web.listen_address",
          "HOST:PORT",
          "",
          "Where to serve the page, /metrics and the WebSocket. Port 0 picks a free one.",
          false,
          set_listen_address,
          [](const Config& config) { return config.web.listen_address; }};
}

ConfigField<Config> allowed_hosts_field() {
  return {"web.allowed_hosts",
          "list of text",
          "",
          "Host names that clients may use, besides loopback names and, if other hosts are served, "
          "IP addresses (guards against DNS rebinding).",
          true,
          [](Config& config, Values values) -> Status {
            config.web.allowed_hosts.assign(values.begin(), values.end());
            return success();
          },
          [](const Config& config) { return print_list(config.web.allowed_hosts); }};
}

ConfigField<Config> web_config_field() {
  return {"web.config.file",
          "text",
          "",
          "File with TLS, login and headers, in the format of Prometheus' exporter-toolkit. Empty: "
          "none.",
          false,
          [](Config& config, Values values) -> Status {
            config.web.config_file = values[0];
            return success();
          },
          [](const Config& config) { return config.web.config_file; }};
}

ConfigField<Config> analyses_field() {
  return {
      "analyses.run",
      "list of names",
      "",
      "Analyses to run besides the rules: names, all, or [] for none. A change needs a restart.",
      true,
      [](Config& config, Values values) -> Status {
        std::vector<std::string_view> known = {"all"};
        for (const AnalysisSpec* spec : analysis_catalog()) known.push_back(spec->name);
        for (const std::string& name : values) {
          if (std::find(known.begin(), known.end(), name) != known.end()) continue;
          return Error{"unknown analysis '" + name + "'" + did_you_mean(name, known)};
        }
        config.analyses.assign(values.begin(), values.end());
        return success();
      },
      [](const Config& config) { return print_list(config.analyses); }};
}

ConfigField<Config> external_url_field() {
  return {"web.external_url",
          "URL",
          "",
          "Where people find the page, for links in notifications. Empty: the address that is "
          "listened on.",
          false,
          [](Config& config, Values values) -> Status {
            std::string url = values[0];
            while (url.ends_with('/')) url.pop_back();
            if (!url.empty()) {
              if (const auto target = parse_http_url(url); !target) return target.error();
            }
            config.web.external_url = std::move(url);
            return success();
          },
          [](const Config& config) { return config.web.external_url; }};
}

ConfigField<Config> user_field() {
  return {"process.user",
          "text",
          "",
          "User that trainwatch becomes before it opens anything, if root starts it. Empty: none.",
          false,
          [](Config& config, Values values) -> Status {
            config.process.user = values[0];
            return success();
          },
          [](const Config& config) { return config.process.user; }};
}

ConfigField<Config> pipe_prefix_field() {
  return {"hang.pipe_prefix",
          "text",
          "",
          "The job's TORCH_NCCL_DEBUG_INFO_PIPE_FILE: its pipes are this, the rank and .pipe. A "
          "change needs a restart.",
          false,
          [](Config& config, Values values) -> Status {
            config.hang.pipe_prefix = values[0];
            return success();
          },
          [](const Config& config) { return config.hang.pipe_prefix; }};
}

std::vector<ConfigField<Config>> make_settings() {
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::minutes;
  using std::chrono::seconds;
  constexpr std::uint64_t kKiB = 1024;
  constexpr std::uint64_t kMiB = 1024 * kKiB;
  std::vector<ConfigField<Config>> settings = {
      listen_address_field(),
      web_config_field(),
      allowed_hosts_field(),
      boolean_field<Config>(
          "web.insecure", [](auto& c) -> auto& { return c.web.insecure; },
          "Serve other hosts without a login; otherwise that needs users in web.config.file."),
      boolean_field<Config>(
          "web.debug", [](auto& c) -> auto& { return c.web.debug; },
          "Show the first bytes of rejected records, which may be confidential, in "
          "/api/v1/status."),
      external_url_field(),
      boolean_field<Config>(
          "web.enable_admin_api", [](auto& c) -> auto& { return c.web.enable_admin_api; },
          "Allow clients to set and remove silences: POST and DELETE /api/v1/silences."),
      boolean_field<Config>(
          "web.enable_lifecycle", [](auto& c) -> auto& { return c.web.enable_lifecycle; },
          "Allow clients to have the configuration read again: POST /-/reload."),
      text_field<Config>(
          "storage.path", [](auto& c) -> auto& { return c.storage.path; },
          "Directory of the state: read positions, rule state and alerts. A restart resumes from "
          "it."),
      boolean_field<Config>(
          "storage.allow_network", [](auto& c) -> auto& { return c.storage.allow_network; },
          "Allow the directory on a network file system, which may lose committed data."),
      count_field<Config>(
          "storage.retention_alerts", [](auto& c) -> auto& { return c.storage.retention.alerts; },
          100, 10'000'000, "Keep at most this many alerts for clients to resume from."),
      duration_field<Config>(
          "storage.retention_age", [](auto& c) -> auto& { return c.storage.retention.age; },
          hours{1}, hours{24 * 3650}, "Keep them for this long."),
      size_field<Config>(
          "storage.incident_trace_bytes",
          [](auto& c) -> auto& { return c.storage.incident_trace_bytes; }, 0, std::size_t{1} << 40U,
          "Keep traces of what happened around each alert, in at most this many bytes."),
      user_field(),
      boolean_field<Config>(
          "process.sandbox", [](auto& c) -> auto& { return c.process.sandbox; },
          "After the start, give up access to other files and dangerous system calls, as far as "
          "the kernel allows."),
      duration_field<Config>(
          "process.drain_timeout", [](auto& c) -> auto& { return c.process.drain_timeout; },
          seconds{0}, hours{1},
          "On SIGTERM or SIGINT, first read the files to their end, but for no longer than this; a "
          "second signal stops at once."),
      boolean_field<Config>(
          "process.ends_with_job", [](auto& c) -> auto& { return c.process.ends_with_job; },
          "trainwatch is stopped when its job is over: what the files end with is judged as "
          "in a replay."),
      choice_field<Config>(
          "log.level", [](auto& c) -> auto& { return c.log.level; },
          {"debug", "info", "warn", "error"}, "Lowest severity to log."),
      choice_field<Config>(
          "log.format", [](auto& c) -> auto& { return c.log.format; }, {"logfmt", "json"},
          "Log format, on standard error."),
      duration_field<Config>(
          "tail.poll_interval", [](auto& c) -> auto& { return c.tail.poll_interval; },
          milliseconds{10}, minutes{1},
          "Polling interval for the watched files; inotify wakes trainwatch sooner where it "
          "works."),
      size_field<Config>(
          "tail.chunk_bytes", [](auto& c) -> auto& { return c.tail.limits.chunk_bytes; }, 4 * kKiB,
          16 * kMiB,
          "Read at most this much of one file at a time; commands that read finished files read "
          "128KiB at most."),
      count_field<Config>(
          "tail.max_files", [](auto& c) -> auto& { return c.tail.limits.max_files; }, 1, 1'000'000,
          "Follow at most this many files at a time; further ones are counted and ignored."),
      count_field<Config>(
          "tail.max_depth", [](auto& c) -> auto& { return c.tail.limits.max_depth; }, 0, 64,
          "Descend at most this many directories below a watched one."),
      duration_field<Config>(
          "input.max_ahead", [](auto& c) -> auto& { return c.input.time.max_ahead; }, minutes{1},
          hours{720},
          "A record this far ahead of its lane waits until others agree with it, else it is "
          "rejected."),
      duration_field<Config>(
          "input.lateness", [](auto& c) -> auto& { return c.input.time.lateness; }, seconds{1},
          hours{24}, "The same for a record this far behind its lane."),
      duration_field<Config>(
          "input.min_hold", [](auto& c) -> auto& { return c.input.time.min_hold; }, seconds{0},
          hours{1},
          "System metrics wait at least this long (event time) to be sorted; at most "
          "input.lateness."),
      count_field<Config>(
          "input.max_subjects", [](auto& c) -> auto& { return c.input.names.subjects; }, 64,
          1'000'000,
          "Know at most this many jobs, nodes, ranks and GPUs; records of others are rejected."),
      count_field<Config>(
          "input.max_series", [](auto& c) -> auto& { return c.input.names.series; }, 64, 4'000'000,
          "Know at most this many series of system metrics; samples of others are rejected."),
      count_field<Config>(
          "input.max_names", [](auto& c) -> auto& { return c.input.names.names; }, 1024, 4'000'000,
          "Know at most this many names of events; others count as __other__."),
      size_field<Config>(
          "input.max_name_bytes", [](auto& c) -> auto& { return c.input.names.name_bytes; },
          64 * kKiB, 1024 * kMiB, "Bytes of all these names together; each is cut at 256."),
      duration_field<Config>(
          "input.forget_after", [](auto& c) -> auto& { return c.input.forget_after; }, minutes{1},
          hours{8760},
          "Forget jobs, nodes, ranks, GPUs and series of which nothing was read for so long, and "
          "names that nobody uses any more."),
      boolean_field<Config>(
          "input.environment_names", [](auto& c) -> auto& { return c.input.environment_names; },
          "Name job, node and rank by the variables of Kubernetes, Slurm, SageMaker, torchrun and "
          "MPI where neither settings nor files do."),
      duration_field<Config>(
          "stream.heartbeat", [](auto& c) -> auto& { return c.stream.heartbeat; }, seconds{1},
          hours{1}, "Time between heartbeats on a WebSocket."),
      boolean_field<Config>(
          "hang.request_dump", [](auto& c) -> auto& { return c.hang.request_dump; },
          "When a stall opens, ask the job's processes for Flight Recorder dumps through the pipes "
          "of hang.pipe_prefix. A change needs a restart."),
      pipe_prefix_field(),
      choice_field<Config>(
          "metrics.cardinality", [](auto& c) -> auto& { return c.metrics.cardinality; },
          {"low", "default", "full"},
          "How much /metrics shows: low has no detail by phase and device, full has buckets of "
          "4.4 %. A change needs a restart."),
      count_field<Config>(
          "metrics.max_series", [](auto& c) -> auto& { return c.metrics.max_series; }, 1000,
          10'000'000,
          "Series on /metrics, each bucket counted; what has no room is summed as __other__. A "
          "change needs a restart."),
      analyses_field(),
      boolean_field<Config>(
          "rules.default_enabled", [](auto& c) -> auto& { return c.rules_default_enabled; },
          "Whether rules that are neither enabled nor disabled by name run, unless they are off "
          "by default."),
      choice_field<Config>(
          "rules.preset", [](auto& c) -> auto& { return c.rules_preset; },
          {"trainwatch", "sagemaker-code", "sagemaker-docs"},
          "Defaults of parameters that are not set by name: trainwatch's own, or those of "
          "SageMaker's code or documentation."),
  };
  for (const ClientLimit& limit : client_limits()) settings.push_back(client_limit_field(limit));
  return settings;
}

ConfigField<WatchConfig> rank_field() {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const std::string bounds = "0.." + std::to_string(kMax);
  return {"rank",
          "number",
          bounds,
          "Rank of files that do not name one.",
          false,
          [=](WatchConfig& watch, Values values) -> Status {
            const auto parsed = parse_whole_number(values[0]);
            if (!parsed) return parsed.error();
            if (*parsed < 0 || *parsed > kMax) return outside(values[0], bounds);
            watch.rank = static_cast<std::int32_t>(*parsed);
            return success();
          },
          [](const WatchConfig& watch) { return watch.rank ? std::to_string(*watch.rank) : ""; }};
}

ConfigField<RuleEntry> enabled_field() {
  return {"enabled",
          "boolean",
          "true|false",
          "Whether the rule runs.",
          false,
          [](RuleEntry& rule, Values values) -> Status {
            const auto parsed = parse_boolean(values[0]);
            if (!parsed) return parsed.error();
            rule.enabled = *parsed;
            return success();
          },
          [](const RuleEntry& rule) {
            return !rule.enabled ? "" : *rule.enabled ? "true" : "false";
          }};
}

// The error of a parameter begins with its name, which the caller already prints.
Status set_param(RuleConfig& rule, const Param& param, std::string_view text) {
  Status set = param.parse(rule.params, text);
  if (set) return set;
  std::string_view message = set.error().message;
  const std::string prefix = std::string(param.name) + ": ";
  if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
  return Error{std::string(message)};
}

}  // namespace

const std::vector<ConfigField<Config>>& settings_table() {
  static const std::vector<ConfigField<Config>> table = make_settings();
  return table;
}

const std::vector<ConfigField<WatchConfig>>& watch_table() {
  static const std::vector<ConfigField<WatchConfig>> table = {
      text_field<WatchConfig>(
          "path", [](auto& w) -> auto& { return w.path; }, "A directory tree or a file."),
      text_field<WatchConfig>(
          "source", [](auto& w) -> auto& { return w.source; },
          "Name of the source in metrics and status. Default: the path, links resolved."),
      text_field<WatchConfig>(
          "job", [](auto& w) -> auto& { return w.job; },
          "Name of the training job. Default: what the files say."),
      rank_field(),
      choice_field<WatchConfig>(
          "follow_symlinks", [](auto& w) -> auto& { return w.follow_symlinks; },
          {"off", "within_root"},
          "Whether to read files through symbolic links that do not lead out of the path."),
  };
  return table;
}

const std::vector<ConfigField<RuleEntry>>& rule_table() {
  static const std::vector<ConfigField<RuleEntry>> table = {
      enabled_field(),
      duration_field<RuleEntry>(
          "for", [](auto& r) -> auto& { return r.config.hold; }, Nanos{0}, std::chrono::hours{24},
          "How long the condition must hold (event time) before the alert fires."),
      duration_field<RuleEntry>(
          "keep_firing_for", [](auto& r) -> auto& { return r.config.keep; }, Nanos{0},
          std::chrono::hours{24},
          "How long the alert keeps firing (event time) after the condition ended."),
  };
  return table;
}

Status set_rule_key(RuleEntry& rule, std::string_view key, std::string_view text) {
  if (const auto* field = find_field(rule_table(), key)) {
    const std::string value(text);
    return field->set(rule, std::span(&value, 1));
  }
  std::vector<std::string_view> known;
  for (const auto& field : rule_table()) known.push_back(field.key);
  for (const Param& param : rule.config.spec->params) {
    if (param.name == key) {
      rule.set_keys.insert(param.name);
      return set_param(rule.config, param, text);
    }
    known.push_back(param.name);
  }
  return Error{"unknown key" + did_you_mean(key, known)};
}

RuleEntry* find_rule_entry(Config& config, std::string_view id) {
  for (RuleEntry& rule : config.rules) {
    if (rule.config.spec->id == id) return &rule;
  }
  return nullptr;
}

Error unknown_rule(const Config& config, std::string_view id) {
  std::vector<std::string_view> known;
  for (const RuleEntry& rule : config.rules) known.push_back(rule.config.spec->id);
  return Error{"unknown rule '" + std::string(id) + "'" + did_you_mean(id, known)};
}

}  // namespace trainwatch
