// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/path_metadata.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "pipeline/decode/decimal_time.h"

namespace trainwatch {
namespace {

constexpr std::int64_t kLargestRank = 16383;

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool drop_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

std::int32_t rank_or_none(std::string_view digits) {
  const auto value = parse_digits(digits);
  return value && *value <= kLargestRank ? static_cast<std::int32_t>(*value) : kNoRank;
}

// The number behind `word` where it is written as "word3", "word-3" or "word_3".
std::int32_t rank_after(std::string_view name, std::string_view word) {
  for (std::size_t at = name.find(word); at != std::string_view::npos;
       at = name.find(word, at + 1)) {
    const bool inside_word = at > 0 && std::isalpha(static_cast<unsigned char>(name[at - 1])) != 0;
    std::string_view rest = name.substr(at + word.size());
    if (!rest.empty() && (rest.front() == '-' || rest.front() == '_')) rest.remove_prefix(1);
    const auto* const stop = std::find_if_not(rest.begin(), rest.end(), is_digit);
    const std::string_view digits{rest.data(), static_cast<std::size_t>(stop - rest.begin())};
    if (!inside_word && !digits.empty()) return rank_or_none(digits);
  }
  return kNoRank;
}

// A directory of one rank, node or hour of a job.
bool is_part_of_a_job(std::string_view directory) {
  constexpr std::string_view kWords[] = {"rank", "worker", "node", "host", "algo"};
  return all_digits(directory) || std::ranges::any_of(kWords, [&](std::string_view word) {
           return directory.starts_with(word) && rank_after(directory, word) != kNoRank;
         });
}

// "word3", "word-3" or "word_3", and nothing else.
bool is_numbered(std::string_view name, std::string_view word) {
  if (!name.starts_with(word)) return false;
  name.remove_prefix(word.size());
  if (!name.empty() && (name.front() == '-' || name.front() == '_')) name.remove_prefix(1);
  return all_digits(name);
}

// A directory of one moment of a run, such as "iteration_100", or of one of its processes.
bool is_point_of_a_run(std::string_view directory) {
  constexpr std::string_view kWords[] = {"iteration", "iter",    "step",       "global_step",
                                         "epoch",     "cycle",   "batch",      "gpu",
                                         "device",    "master",  "trainer",    "machine",
                                         "process",   "replica", "local_rank", "server"};
  return std::ranges::any_of(kWords,
                             [&](std::string_view word) { return is_numbered(directory, word); });
}

// TensorBoard's plugins/profile/SESSION; SageMaker's folders below "framework" and "system", if one
// of those is watched itself.
bool holds_sessions(std::string_view directory) {
  return directory == "plugins" || directory == "pevents" || directory == "incremental" ||
         directory == "tensorflow" || directory == "detailed_profiling";
}

bool is_word_for_traces(std::string_view word) {
  constexpr std::string_view kWords[] = {
      "trace", "traces", "profile", "profiles", "profiler",    "profiling", "kineto",
      "torch", "chrome", "pytorch", "tb",       "tensorboard", "log",       "logs",
      "out",   "output", "outputs", "comm",     "nccl",        "flight",    "recorder",
      "dump",  "dumps",  "otel",    "nvrx",     "inspector"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

// A directory that says only what lies in it: "traces", "torch_profiler".
bool is_for_traces(std::string_view directory) {
  std::string word;
  bool all = true;
  const auto end_word = [&] {
    all = all && (word.empty() || is_word_for_traces(word));
    word.clear();
  };
  for (const char c : directory) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) == 0) {
      end_word();
    } else {
      word += static_cast<char>(std::tolower(letter));
    }
  }
  end_word();
  return all;
}

// "host_12_step_40" is "host_12" at one moment: the last number is no process.
std::string_view without_point_of_run(std::string_view worker) {
  constexpr std::string_view kWords[] = {"global_step", "step",  "iteration", "iter",
                                         "epoch",       "cycle", "batch"};
  const std::size_t digits = worker.find_last_not_of("0123456789") + 1;
  if (digits == worker.size()) return worker;
  for (const std::string_view word : kWords) {
    std::string_view rest = worker.substr(0, digits);
    if (!drop_suffix(rest, "_")) drop_suffix(rest, "-");
    if (drop_suffix(rest, word) && (drop_suffix(rest, "_") || drop_suffix(rest, "-"))) return rest;
  }
  return worker;
}

std::optional<std::int64_t> stamp_ns(std::string_view digits) {
  if (!all_digits(digits)) return std::nullopt;
  switch (digits.size()) {
    case 13:
      return parse_time_ns(digits, TimeUnit::milliseconds);
    case 16:
      return parse_time_ns(digits, TimeUnit::microseconds);
    case 19:
      return parse_time_ns(digits, TimeUnit::nanoseconds);
    default:
      return std::nullopt;
  }
}

std::string_view parent(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

// "<hostname>_<pid>" of a profiler trace.
struct Writer {
  std::string_view name;
  std::string_view node;

  bool is_named(std::string_view directory) const {
    return !name.empty() && (directory == name || directory == node);
  }
};

Writer writer_of(std::string_view path) {
  const std::string_view name = base_name(path);
  const std::size_t bar = name.rfind('_');
  if (bar == std::string_view::npos) return {};
  const std::size_t digits = name.find_first_not_of("0123456789", bar + 1);
  if (digits == std::string_view::npos || digits == bar + 1 || name[digits] != '.') return {};
  return {name.substr(0, digits), name.substr(0, bar)};
}

// Keras writes the event files of one training to these two.
bool is_half_of_a_job(std::string_view path, std::string_view directory) {
  return (directory == "train" || directory == "validation") && is_event_file(path);
}

// torchrun's "attempt_1/0/stderr.log": the ranks were started again in the same job.
bool is_start_of_a_job(std::string_view path, std::string_view directory) {
  const std::string_view name = base_name(path);
  return (name == "stdout.log" || name == "stderr.log") && is_numbered(directory, "attempt") &&
         directory.end() == parent(parent(path)).end();
}

// Timelines and system metrics lie in "framework" and "system"; elsewhere they are of the job as a
// whole.
bool may_be_a_profiler_trace(std::string_view path) {
  const std::string_view name = base_name(path);
  const std::size_t dot = name.find('.');
  const bool metrics = dot == 10 && all_digits(name.substr(0, dot));
  return !metrics && name.find("timeline.json") == std::string_view::npos;
}

}  // namespace

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_kernel_log(std::string_view path) {
  const std::string_view name = base_name(path);
  for (const std::string_view known : {"dmesg", "messages", "syslog", "kern.log"}) {
    if (!name.starts_with(known)) continue;
    const std::string_view behind = name.substr(known.size());
    if (behind.empty() || behind.front() == '.' || behind.front() == '-') return true;
  }
  return false;
}

bool is_event_file(std::string_view path) {
  return base_name(path).find(".tfevents") != std::string_view::npos;
}

bool is_validation_of_a_job(std::string_view path) {
  return base_name(parent(path)) == "validation" && is_event_file(path);
}

TrialPathMetadata trial_path_metadata(std::string_view path) {
  const std::string_view step = parent(path);
  const std::string_view events = parent(step);
  if (!is_event_file(path) || base_name(events) != "events" || !all_digits(base_name(step)))
    return {};
  std::string_view worker = base_name(path);
  worker = worker.substr(0, worker.find(".tfevents"));
  const std::size_t bar = worker.find('_');
  if (bar == std::string_view::npos || !all_digits(worker.substr(0, bar))) return {};
  worker.remove_prefix(bar + 1);
  constexpr std::string_view kWorker = "worker_";
  TrialPathMetadata found{std::string(parent(events))};
  if (worker.starts_with(kWorker)) found.rank = rank_or_none(worker.substr(kWorker.size()));
  return found;
}

bool is_named_as_ours(std::string_view path) {
  const std::string_view name = base_name(path);
  return name.find("timeline.json") != std::string_view::npos ||
         name.find(".trace.json") != std::string_view::npos ||
         path.find("system/incremental/") != std::string_view::npos;
}

std::string job_of(std::string_view path, std::string_view root, const std::string& job) {
  if (path.size() <= root.size() || !path.starts_with(root)) return job;
  const bool trace = may_be_a_profiler_trace(path);
  const std::string trial = trial_path_metadata(path).trial;
  const Writer writer = writer_of(path);
  std::string name = job;
  std::size_t of_trace = job.size();  // the part of the name that a trace has
  std::string_view rest = path.substr(root.size());
  for (std::size_t slash = rest.find('/'); slash != std::string_view::npos;
       slash = rest.find('/')) {
    const std::string_view directory = rest.substr(0, slash);
    rest.remove_prefix(slash + 1);
    if (directory == "framework" || directory == "system") return name;
    if (!trial.empty() && directory.data() == path.data() + trial.size() + 1) return name;
    if (trace && holds_sessions(directory)) break;
    if (directory.empty() || is_part_of_a_job(directory)) continue;
    if (is_half_of_a_job(path, directory) || is_start_of_a_job(path, directory)) continue;
    if (trace && (is_point_of_a_run(directory) || writer.is_named(directory))) continue;
    if (!name.empty()) name += '/';
    name += directory;
    if (!is_for_traces(directory)) of_trace = name.size();
  }
  if (!trace) return job;
  name.resize(of_trace);
  return name;
}

std::string_view job_directory(std::string_view directory) {
  constexpr std::string_view kKinds[] = {"framework", "system",  "wandb",         "mlruns",
                                         "metrics",   "runs",    "checkpoints",   "checkpoint",
                                         "ckpt",      "weights", "lightning_logs"};
  for (std::string_view left = directory; !left.empty(); left = parent(left)) {
    const std::string_view name = base_name(left);
    // A number is the name of a run where it is watched for itself.
    const bool part = !all_digits(name) && is_part_of_a_job(name);
    if (!part && !is_point_of_a_run(name) && !holds_sessions(name) && !is_for_traces(name) &&
        std::ranges::find(kKinds, name) == std::end(kKinds)) {
      return left;
    }
  }
  return directory;
}

NodeRank parse_writer(std::string_view writer) {
  const std::size_t dash = writer.find('-');
  if (dash == std::string_view::npos || dash + 1 == writer.size() ||
      !all_digits(writer.substr(0, dash))) {
    return {std::string{writer}, kNoRank};
  }
  NodeRank found{std::string{writer.substr(dash + 1)}, rank_or_none(writer.substr(0, dash))};
  if (found.rank == kNoRank)
    found.process = parse_digits(writer.substr(0, dash)).value_or(kNoProcess);
  return found;
}

NodeRank timeline_path_metadata(std::string_view path) {
  std::string_view name = base_name(path);
  drop_suffix(name, ".tmp");
  drop_suffix(name, ".gz");
  constexpr std::array<std::string_view, 6> kKinds = {
      "_pythontimeline.json",          "_model_timeline.json",  "_horovod_timeline.json",
      "_smdataparallel_timeline.json", "_merged_timeline.json", "_launchtimeline.json"};
  const bool known = std::any_of(kKinds.begin(), kKinds.end(),
                                 [&](std::string_view kind) { return drop_suffix(name, kind); });
  if (!known) return {};
  // A node has no '_': the writer turns it into '-'.
  const std::size_t stamp_end = name.find('_');
  if (stamp_end != std::string_view::npos && all_digits(name.substr(0, stamp_end))) {
    name.remove_prefix(stamp_end + 1);
  }
  return parse_writer(name.substr(0, name.find('_')));
}

bool is_communication_timeline(std::string_view path) {
  const std::string_view name = base_name(path);
  return name.find("horovod_timeline") != std::string_view::npos ||
         name.find("smdataparallel_timeline") != std::string_view::npos;
}

ProfilePathMetadata profile_path_metadata(std::string_view path) {
  std::string_view name = base_name(path);
  drop_suffix(name, ".tmp");
  drop_suffix(name, ".gz");
  drop_suffix(name, ".json");
  drop_suffix(name, ".trace");
  drop_suffix(name, ".pt");
  ProfilePathMetadata source;
  source.rank = rank_after(name, "rank");
  if (source.rank == kNoRank) source.rank = rank_after(name, "worker");
  const std::size_t dot = name.rfind('.');  // the host name may have dots itself
  if (dot == std::string_view::npos) return source;
  source.end_ns = stamp_ns(name.substr(dot + 1));
  const std::string_view worker = without_point_of_run(name.substr(0, dot));
  const std::size_t line = worker.rfind('_');
  if (source.end_ns && line != std::string_view::npos && all_digits(worker.substr(line + 1))) {
    source.node = worker.substr(0, line);
    source.process = parse_digits(worker.substr(line + 1)).value_or(kNoProcess);
  }
  return source;
}

std::string tensorflow_node(std::string_view path) {
  const std::string_view name = base_name(path);
  return std::string{name.substr(0, name.find('.'))};
}

std::string metadata_directory(std::string_view path) {
  for (int level = 0; level < 4; ++level) path = parent(path);
  return std::string{path};
}

std::optional<std::int64_t> metadata_start_ns(std::string_view file_name) {
  if (!drop_suffix(file_name, ".metadata")) return std::nullopt;
  const std::size_t end = file_name.rfind('_');
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const std::size_t start = file_name.rfind('_', end - 1);
  if (start == std::string_view::npos) return std::nullopt;
  const std::string_view digits = file_name.substr(start + 1, end - start - 1);
  if (!all_digits(digits)) return std::nullopt;
  return parse_time_ns(digits, TimeUnit::microseconds);
}

}  // namespace trainwatch
