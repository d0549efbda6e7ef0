// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/end_words.h"

#include <csignal>
#include <string_view>
#include <utility>

namespace trainwatch {
namespace {

std::string_view class_words(EndClass what) {
  switch (what) {
    case EndClass::completed:
      return "done";
    case EndClass::cuda_out_of_memory:
      return "CUDA out of memory";
    case EndClass::host_out_of_memory:
      return "out of host memory";
    case EndClass::time_limit:
      return "time limit";
    case EndClass::cancelled:
      return "cancelled";
    case EndClass::preempted:
      return "preempted";
    case EndClass::node_failure:
      return "a node failed";
    case EndClass::gpu_error:
      return "GPU error";
    case EndClass::collective_timeout:
      return "a collective operation timed out";
    case EndClass::worker_killed:
      return "a data loader worker was killed";
    case EndClass::disk_full:
      return "no space left on the device";
    case EndClass::exception:
      return "exception";
    case EndClass::signal:
      return "a signal";
    case EndClass::unknown:
    case EndClass::count_:
      break;
  }
  return "ended without saying why";
}

// "ValueError" of "ValueError: bad sample"
std::string_view exception_type(std::string_view text) {
  const std::string_view type = text.substr(0, text.find(':'));
  const bool plain = !type.empty() && type.size() < 64 && type.find(' ') == std::string_view::npos;
  return plain ? type : std::string_view();
}

// "SIGTERM"; of those that end jobs
std::string signal_words(std::int32_t number) {
  constexpr std::pair<std::int32_t, std::string_view> kNames[] = {
      {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
      {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
      {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"}, {SIGPIPE, "SIGPIPE"},
      {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"}};
  for (const auto& [known, name] : kNames) {
    if (known == number) return std::string(name);
  }
  return "signal " + std::to_string(number);
}

}  // namespace

std::string end_words(const EndEvidence& how) {
  std::string text(class_words(how.what));
  if (how.what == EndClass::exception) {
    const std::string_view type = exception_type(how.text);
    if (!type.empty()) text = type;
    if (type.empty() && how.exit_code) text = "exit code " + std::to_string(*how.exit_code);
  }
  if (how.signal && how.what == EndClass::signal) text = "killed by " + signal_words(*how.signal);
  if (how.signal && how.what == EndClass::cancelled) text = "ended by " + signal_words(*how.signal);
  if (how.rank != kNoRank) text += " on rank " + std::to_string(how.rank);
  if (!how.node.empty()) text += " (" + how.node + ")";
  return text;
}

}  // namespace trainwatch
