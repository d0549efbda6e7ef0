// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/ends/end_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/literal_search.h"
#include "pipeline/decode/declared/scalar_text.h"

namespace trainwatch {
namespace {

constexpr std::int32_t kSigKill = 9;
constexpr std::int32_t kSigTerm = 15;
constexpr std::int32_t kMostSignal = 64;

// What is behind the literal of a row, and before it.
struct EndMessage {
  std::string_view all;
  std::string_view before;
  std::string_view behind;

  bool has(std::string_view text) const { return find_text(all, text) != std::string_view::npos; }
  // What follows the first occurrence of `text`; empty if it does not occur.
  std::string_view past(std::string_view text) const {
    const std::size_t at = find_text(all, text);
    return at == std::string_view::npos ? std::string_view{} : all.substr(at + text.size());
  }
};

std::optional<std::int64_t> leading_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} ? std::optional(number) : std::nullopt;
}

std::string_view leading_word(std::string_view text) {
  return text.substr(0, std::min(text.find_first_of(" :,"), text.size()));
}

std::int32_t as_rank(std::optional<std::int64_t> number) {
  const bool possible = number && *number >= 0 && *number < (1 << 24);
  return possible ? static_cast<std::int32_t>(*number) : kNoRank;
}

// "srun: error: node7: task 3: Killed", "... tasks 0-2,5: ..."; false: another message.
bool read_task(const EndMessage& message, EndLine& line) {
  std::string_view rest = message.behind;
  line.node = leading_word(rest);
  rest.remove_prefix(line.node.size());
  const bool one = rest.starts_with(": task ");
  if (!one && !rest.starts_with(": tasks ")) return false;
  rest.remove_prefix(one ? 7 : 8);
  line.rank = as_rank(leading_number(rest));
  return line.rank != kNoRank;
}

bool read_task_exit(const EndMessage& message, EndLine& line) {
  if (!read_task(message, line)) return false;
  const std::string_view code = message.past("xited with exit code ");
  if (!code.empty()) {
    set_exit_code(line, leading_number(code).value_or(1));
    return true;
  }
  struct Death {
    std::string_view words;
    std::int32_t signal;
  };
  constexpr std::array<Death, 6> kDeaths = {{{": Killed", kSigKill},
                                             {": Segmentation fault", 11},
                                             {": Aborted", 6},
                                             {": Bus error", 7},
                                             {": Illegal instruction", 4},
                                             {": Floating point exception", 8}}};
  for (const Death& death : kDeaths) {
    if (message.has(death.words)) line.signal = death.signal;
  }
  if (line.signal) line.what = EndClass::signal;
  return line.signal.has_value();
}

// srun ends the other tasks so when one has failed.
bool read_task_terminated(const EndMessage& message, EndLine& line) {
  line.signal = kSigTerm;
  return message.has(": Terminated") && read_task(message, line);
}

bool read_task_memory(const EndMessage& message, EndLine& line) {
  return message.has(": Out Of Memory") && read_task(message, line);
}

// "*** JOB 140 ON node12 CANCELLED AT 2026-09-21T14:18:00 DUE TO TIME LIMIT ***"
bool read_cancelled(const EndMessage& message, EndLine& line) {
  struct Reason {
    std::string_view words;
    EndClass what;
  };
  constexpr std::array<Reason, 3> kReasons = {{{"DUE TO TIME LIMIT", EndClass::time_limit},
                                               {"DUE TO PREEMPTION", EndClass::preempted},
                                               {"DUE TO NODE FAILURE", EndClass::node_failure}}};
  const std::string_view node = message.past(" ON ");
  line.node = leading_word(node);
  for (const Reason& reason : kReasons) {
    if (!message.has(reason.words)) continue;
    line.what = reason.what;
    line.weight = EndWeight::cause;
    return true;
  }
  line.what = EndClass::cancelled;
  return message.has("CANCELLED AT ");
}

bool read_node_failure(const EndMessage& message, EndLine& line) {
  line.node = leading_word(message.behind);
  return true;
}

// "failed (exitcode: -9) local_rank: 3 (pid: 4711)"
bool read_torchrun(const EndMessage& message, EndLine& line) {
  const auto code = leading_number(message.behind);
  if (!code) return false;
  set_exit_code(line, *code);
  line.rank = as_rank(leading_number(message.past("local_rank: ")));
  return true;
}

bool read_return_code(const EndMessage& message, EndLine& line) {
  const auto code = leading_number(message.behind);
  if (!code || *code == 0) return false;
  set_exit_code(line, *code);
  return true;
}

// "mpirun noticed that process rank 3 with PID 4711 on node node7 exited on signal 9 (Killed)."
bool read_mpirun(const EndMessage& message, EndLine& line) {
  line.rank = as_rank(leading_number(message.behind));
  line.node = leading_word(message.past(" on node "));
  const auto signal = leading_number(message.past("exited on signal "));
  if (signal) set_exit_code(line, -*signal);
  return line.rank != kNoRank;
}

// "NVRM: Xid (PCI:0000:4e:00): 79, pid=4711, ...": no failure is what the driver only records, and
// 45 cleans up behind another one.
bool read_xid(const EndMessage& message, EndLine& line) {
  const auto number = leading_number(message.past("): "));
  if (!number || *number == 63 || *number == 92) return false;
  if (*number == 45) line.weight = EndWeight::consequence;
  line.of_machine = true;
  return true;
}

// "Out of memory: Killed process 4711 (python3)", and of a cgroup "Memory cgroup out of memory:
// ...".
bool read_kernel_memory(const EndMessage&, EndLine& line) {
  line.of_machine = true;
  return true;
}

// "DataLoader worker (pid 4711) is killed by signal: Killed."
bool read_worker(const EndMessage& message, EndLine& line) {
  if (message.has("is killed by signal: Killed")) line.signal = kSigKill;
  return message.has("killed by signal") || message.has("exited unexpectedly");
}

// An out of memory of the device, and what the program did wrong, have rows of their own.
bool read_cuda_error(const EndMessage& message, EndLine& line) {
  if (!message.has("device-side assert")) return true;
  line.what = EndClass::exception;
  line.weight = EndWeight::exception;
  return true;
}

bool read_death_signal(const EndMessage& message, EndLine& line) {
  if (message.has("SIGINT")) {
    line.what = EndClass::cancelled;
    line.weight = EndWeight::exception;
  } else {
    line.what = EndClass::signal;
    line.signal = kSigTerm;
  }
  return message.has("SIGINT") || message.has("SIGTERM");
}

// "SignalException: Process 4242 got signal: 15"
bool read_got_signal(const EndMessage& message, EndLine& line) {
  const auto signal = leading_number(message.behind);
  if (!signal || *signal <= 0 || *signal > kMostSignal) return false;
  line.signal = static_cast<std::int32_t>(*signal);
  line.what = *signal == 2 ? EndClass::cancelled : EndClass::signal;
  return true;
}

// Nothing but what a shell prints of a child: "Killed", "line 3:  4711 Killed      python".
bool read_killed(const EndMessage& message, EndLine& line) {
  const bool alone = message.all == "Killed";
  const bool of_shell = message.behind.starts_with("   ") && message.before.ends_with(' ');
  set_exit_code(line, -kSigKill);
  return alone || of_shell;
}

// "Segmentation fault (core dumped)", "Fatal Python error: Aborted"
bool read_fault(const EndMessage& message, EndLine& line) {
  const int signal = message.has("Aborted")              ? 6
                     : message.has("Bus error")          ? 7
                     : message.has("Segmentation fault") ? 11
                                                         : 0;
  if (signal == 0) return false;
  set_exit_code(line, -signal);
  return true;
}

bool read_barrier(const EndMessage& message, EndLine& line) {
  for (const std::string_view before : {"Ranks ", "Rank "}) {
    const std::string_view ranks = message.past(before);
    if (!ranks.empty()) line.rank = as_rank(leading_number(ranks));
  }
  return true;
}

// "SystemExit: 3"
bool read_system_exit(const EndMessage& message, EndLine& line) {
  if (!message.before.empty()) return false;
  const auto code = leading_number(message.behind);
  if (code && *code == 0) return false;
  set_exit_code(line, code.value_or(1));
  return true;
}

bool read_exception(const EndMessage& message, EndLine&) {
  return is_exception_line(message.all, true);
}

// "Finished saving the checkpoint (or staging if async is enabled)in 0.65 seconds."
bool read_seconds(const EndMessage& message, EndLine& line) {
  const std::size_t in = message.behind.rfind("in ");
  if (in == std::string_view::npos) return true;
  const auto seconds = scalar_at(message.behind.substr(in + 3), ScalarKind::other);
  if (seconds && *seconds >= 0) line.seconds = *seconds;
  return true;
}

bool read_save_begins(const EndMessage&, EndLine& line) {
  line.begins = true;
  return true;
}

// "checkpoint saved (10.6 s)", "saved checkpoint to /ckpt in 10.6 s"
bool read_saved(const EndMessage& message, EndLine& line) {
  line.ends = true;
  for (const std::string_view before : {" (", " in ", " took "}) {
    const std::string_view behind = message.past(before);
    const std::size_t unit = behind.find_first_not_of("0123456789.");
    if (unit == 0 || unit == std::string_view::npos) continue;
    const auto seconds = scalar_at(behind.substr(0, unit), ScalarKind::other);
    const bool is_time =
        behind.substr(unit).starts_with("s") || behind.substr(unit).starts_with(" s");
    if (seconds && is_time && *seconds >= 0) line.seconds = *seconds;
  }
  return true;
}

// "    evaluate .......................................: (3012.51, 3014.60)", in ms.
bool read_megatron_timer(const EndMessage& message, EndLine& line) {
  const std::string_view values = message.past(": (");
  const std::size_t comma = values.find(", ");
  if (comma == std::string_view::npos) return false;
  const auto most = scalar_at(values.substr(comma + 2), ScalarKind::other);
  if (!most || *most < 0) return false;
  line.seconds = *most / 1e3;
  return true;
}

bool read_world_size(const EndMessage& message, EndLine& line) {
  const auto size = leading_number(message.behind);
  if (!size || *size < 1 || *size >= (1 << 24)) return false;
  line.world_size = static_cast<std::uint32_t>(*size);
  return true;
}

// torchtitan: "Building 2-D device mesh with ['pp', 'dp_shard'], [2, 8]"
bool read_mesh(const EndMessage& message, EndLine& line) {
  std::string_view sizes = message.past("], [");
  std::int64_t ranks = 1;
  while (const auto size = leading_number(sizes)) {
    if (*size < 1 || *size >= (1 << 24)) return false;
    ranks *= *size;
    if (ranks >= (1 << 24)) return false;
    const std::size_t comma = sizes.find(", ");
    if (comma == std::string_view::npos) break;
    sizes.remove_prefix(comma + 2);
  }
  line.world_size = static_cast<std::uint32_t>(ranks);
  return true;
}

struct EndKind {
  std::string_view literal;
  RunNote::Kind kind = RunNote::Kind::end_evidence;
  EndClass what = EndClass::unknown;
  EndWeight weight = EndWeight::ended;
  bool (*read)(const EndMessage& message, EndLine& line) = nullptr;  // null: there is no more in it
};

constexpr RunNote::Kind kEvidence = RunNote::Kind::end_evidence;

// The first row that knows a line has it: causes before what follows from them.
constexpr EndKind kEndKinds[] = {
    {"CUDA out of memory", kEvidence, EndClass::cuda_out_of_memory, EndWeight::cause},
    {"CUDA error: out of memory", kEvidence, EndClass::cuda_out_of_memory, EndWeight::cause},
    {"OutOfMemoryError: ", kEvidence, EndClass::cuda_out_of_memory, EndWeight::cause},
    {"uncorrectable ECC", kEvidence, EndClass::gpu_error, EndWeight::cause},
    {"NVRM: Xid", kEvidence, EndClass::gpu_error, EndWeight::cause, &read_xid},
    {"GPU has fallen off the bus", kEvidence, EndClass::gpu_error, EndWeight::cause},
    {"CUDA error: ", kEvidence, EndClass::gpu_error, EndWeight::cause, &read_cuda_error},
    {"No space left on device", kEvidence, EndClass::disk_full, EndWeight::cause},
    {"DataLoader worker (pid", kEvidence, EndClass::worker_killed, EndWeight::cause, &read_worker},
    {"Watchdog caught collective operation timeout", kEvidence, EndClass::collective_timeout,
     EndWeight::cause},
    {"failed to pass monitoredBarrier", kEvidence, EndClass::collective_timeout, EndWeight::cause,
     &read_barrier},
    {"Timed out waiting ", kEvidence, EndClass::collective_timeout, EndWeight::cause},
    {"srun: error: ", kEvidence, EndClass::host_out_of_memory, EndWeight::cause, &read_task_memory},
    {"oom_kill event", kEvidence, EndClass::host_out_of_memory, EndWeight::cause},
    {"oom-kill event", kEvidence, EndClass::host_out_of_memory, EndWeight::cause},
    {"OOMKilled", kEvidence, EndClass::host_out_of_memory, EndWeight::cause},
    {"ut of memory: Kill", kEvidence, EndClass::host_out_of_memory, EndWeight::cause,
     &read_kernel_memory},
    {"DefaultCPUAllocator: ", kEvidence, EndClass::host_out_of_memory, EndWeight::cause},
    {"Node failure on ", kEvidence, EndClass::node_failure, EndWeight::cause, &read_node_failure},
    {"slurmstepd: error: *** ", kEvidence, EndClass::cancelled, EndWeight::ended, &read_cancelled},
    {"srun: error: ", kEvidence, EndClass::signal, EndWeight::consequence, &read_task_terminated},
    {"srun: error: ", kEvidence, EndClass::exception, EndWeight::ended, &read_task_exit},
    {"failed (exitcode: ", kEvidence, EndClass::exception, EndWeight::ended, &read_torchrun},
    {"exits with return code = ", kEvidence, EndClass::exception, EndWeight::ended,
     &read_return_code},
    {"noticed that process rank ", kEvidence, EndClass::exception, EndWeight::ended, &read_mpirun},
    {"death signal", kEvidence, EndClass::signal, EndWeight::ended, &read_death_signal},
    {" got signal: ", kEvidence, EndClass::signal, EndWeight::ended, &read_got_signal},
    {"Killed", kEvidence, EndClass::signal, EndWeight::ended, &read_killed},
    {"(core dumped)", kEvidence, EndClass::signal, EndWeight::ended, &read_fault},
    {"Fatal Python error: ", kEvidence, EndClass::signal, EndWeight::ended, &read_fault},
    {"ncclRemoteError", kEvidence, EndClass::exception, EndWeight::consequence},
    {"DistBackendError", kEvidence, EndClass::exception, EndWeight::consequence},
    {"DistNetworkError", kEvidence, EndClass::exception, EndWeight::consequence},
    {"DistStoreError", kEvidence, EndClass::exception, EndWeight::consequence},
    {"ChildFailedError", kEvidence, EndClass::exception, EndWeight::consequence},
    {"CalledProcessError", kEvidence, EndClass::exception, EndWeight::consequence},
    {"Connection closed by", kEvidence, EndClass::exception, EndWeight::consequence},
    {"Connection reset by", kEvidence, EndClass::exception, EndWeight::consequence},
    {"Broken pipe", kEvidence, EndClass::exception, EndWeight::consequence},
    {"exited with non-zero status", kEvidence, EndClass::exception, EndWeight::consequence},
    {"KeyboardInterrupt", kEvidence, EndClass::cancelled, EndWeight::exception},
    {"SystemExit: ", kEvidence, EndClass::exception, EndWeight::ended, &read_system_exit},
    {"MemoryError", kEvidence, EndClass::host_out_of_memory, EndWeight::cause, &read_exception},
    {"Error: ", kEvidence, EndClass::exception, EndWeight::exception, &read_exception},
    {"Exception: ", kEvidence, EndClass::exception, EndWeight::exception, &read_exception},
    {"exiting program after receiving SIGTERM", kEvidence, EndClass::cancelled, EndWeight::cause},
    {"[after megatron is initialized]", RunNote::Kind::launched},
    {"using world size: ", RunNote::Kind::launched, EndClass::unknown, EndWeight::ended,
     &read_world_size},
    {"Starting job", RunNote::Kind::launched},
    {"device mesh with ", RunNote::Kind::launched, EndClass::unknown, EndWeight::ended, &read_mesh},
    {"OMP_NUM_THREADS", RunNote::Kind::launched},
    {"restarting worker group", RunNote::Kind::launched},
    {"[before the start of training step]", RunNote::Kind::saw},
    {"Training starts at step ", RunNote::Kind::saw},
    {"Saving the checkpoint", RunNote::Kind::saw},
    {"Finished saving the checkpoint", RunNote::Kind::checkpoint, EndClass::unknown,
     EndWeight::ended, &read_seconds},
    {"Finished loading the checkpoint", RunNote::Kind::restored, EndClass::unknown,
     EndWeight::ended, &read_seconds},
    {"aving checkpoint ", RunNote::Kind::checkpoint, EndClass::unknown, EndWeight::ended,
     &read_save_begins},
    {"aving model checkpoint ", RunNote::Kind::checkpoint, EndClass::unknown, EndWeight::ended,
     &read_save_begins},
    {"heckpoint saved", RunNote::Kind::checkpoint, EndClass::unknown, EndWeight::ended,
     &read_saved},
    {"aved checkpoint", RunNote::Kind::checkpoint, EndClass::unknown, EndWeight::ended,
     &read_saved},
    {"esumed from checkpoint", RunNote::Kind::launched},
    {"esuming from checkpoint", RunNote::Kind::launched},
    {"esuming training from", RunNote::Kind::launched},
    {"    evaluate ....", RunNote::Kind::evaluation, EndClass::unknown, EndWeight::ended,
     &read_megatron_timer},
    {"    load-checkpoint ....", RunNote::Kind::restored, EndClass::unknown, EndWeight::ended,
     &read_megatron_timer},
    {"validate step: ", RunNote::Kind::evaluation},
};

// One stands for several rows where it can, and each has bytes that are rare in text: all text is
// searched for them. What a training prints between records is in its preset (`marks`).
constexpr std::array<std::string_view, 24> kEndLiterals = {
    "rror: ",
    "xception: ",
    "Traceback (most recent call",
    "NVRM: Xid",
    "Killed",
    "ut of memory: Kill",
    "failed (exitcode",
    "Root Cause (",
    "ChildFailedError",
    "return code = ",
    "s.SIG",
    "(core dumped)",
    "g SIGTERM",
    "] datetime: ",
    "Starting job",
    "OMP_NUM_THREADS",
    "] restarting",
    "sing world size: ",
    "-D device mesh",
    "Exception ignored in",
    "n atexit._run",
    "- Logging error -",
    "Exception in thread",
    "heckpoint",
};

// `"RuntimeError: CUDA out of memory"` within a sentence, or what pytest shows of a test: somebody
// writes about an exception.
bool is_quoted(std::string_view message, std::size_t at) {
  if (message.starts_with("E   ")) return true;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_name = [&](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == ':';
  };
  while (at > 0 && (is_name(message[at - 1]) ||
                    (at > 1 && message[at - 1] == ' ' && message[at - 2] == ':'))) {
    --at;
  }
  const bool quote = at > 0 && std::string_view("\"'`").find(message[at - 1]) < 3;
  return quote && (at == 1 || !is_letter(message[at - 2]));
}

}  // namespace

std::span<const std::string_view> end_literals() {
  return kEndLiterals;
}

bool has_end_literal(std::string_view line) {
  static const LiteralSearch kAll = [] {
    std::vector<std::string_view> literals;
    for (const EndKind& kind : kEndKinds) literals.push_back(kind.literal);
    return LiteralSearch(literals);
  }();
  return kAll.find(line) != std::string_view::npos;
}

void set_exit_code(EndLine& line, std::int64_t code) {
  const std::int64_t of_signal = code < 0 ? -code : code - 128;
  if (of_signal > 0 && of_signal <= kMostSignal) {
    line.signal = static_cast<std::int32_t>(of_signal);
    line.what = EndClass::signal;
  } else {
    line.what = EndClass::exception;
  }
  if (code > 0 && code <= 255) line.exit_code = static_cast<std::int32_t>(code);
}

bool is_exception_line(std::string_view message, bool strict) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_name = [&](char c) {
    return is_digit(c) || is_lower(c) || is_upper(c) || c == '_' || c == '.';
  };
  const auto end = std::ranges::find_if_not(message, is_name);
  const std::string_view name = message.substr(0, static_cast<std::size_t>(end - message.begin()));
  const std::string_view rest = message.substr(name.size());
  if (name.empty() || is_digit(name.front()) || name.ends_with('.')) return false;
  if (!rest.empty() && !rest.starts_with(':')) return false;
  for (const std::string_view known : {"Error", "Exception", "Exit", "Interrupt", "Failure"}) {
    if (name.ends_with(known) && name.size() > known.size()) return true;
  }
  if (strict) return name == "Exception" && !rest.empty();
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return !last.empty() && is_upper(last.front()) && std::ranges::any_of(last, is_lower);
}

bool begins_harmless_failure(std::string_view line) {
  constexpr std::string_view kHarmless[] = {"Exception ignored in", "Error in atexit._run",
                                            "--- Logging error ---", "Exception in thread"};
  return std::ranges::any_of(kHarmless, [line](std::string_view text) {
    return find_text(line, text) != std::string_view::npos;
  });
}

std::optional<EndLine> read_end_line(std::string_view message) {
  for (const EndKind& kind : kEndKinds) {
    const std::size_t at = find_text(message, kind.literal);
    if (at == std::string_view::npos) continue;
    if (kind.kind == kEvidence && kind.weight >= EndWeight::exception && is_quoted(message, at))
      continue;
    EndLine line{.kind = kind.kind, .what = kind.what, .weight = kind.weight};
    const EndMessage parts{message, message.substr(0, at),
                           message.substr(at + kind.literal.size())};
    if (kind.read == nullptr || kind.read(parts, line)) return line;
  }
  return std::nullopt;
}

}  // namespace trainwatch
