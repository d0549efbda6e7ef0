// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

namespace trainwatch {
namespace {

struct ProcStat {
  double cpu_seconds = 0;
  double start_seconds = 0;  // since boot
  double virtual_bytes = 0;
  double resident_bytes = 0;
};

std::string read_file(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// man 5 proc: fields are counted from 1; the second, the command, may contain anything but ends
// with the last ')'.
std::optional<ProcStat> read_stat() {
  const std::string text = read_file("/proc/self/stat");
  const auto command_end = text.rfind(')');
  if (command_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(command_end + 1));
  std::string skipped;
  const auto skip = [&](int n) {
    while (n-- > 0) fields >> skipped;
  };
  double user = 0;
  double system = 0;
  double start = 0;
  double pages = 0;
  ProcStat stat;
  skip(11);  // 3..13
  fields >> user >> system;
  skip(6);  // 16..21
  fields >> start >> stat.virtual_bytes >> pages;
  if (!fields) return std::nullopt;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  stat.cpu_seconds = (user + system) / ticks;
  stat.start_seconds = start / ticks;
  stat.resident_bytes = pages * static_cast<double>(sysconf(_SC_PAGESIZE));
  return stat;
}

std::optional<double> boot_time() {
  const std::string text = read_file("/proc/stat");
  const auto line = text.find("\nbtime ");
  if (line == std::string::npos) return std::nullopt;
  return std::stod(text.substr(line + 7));
}

std::optional<double> open_fds() {
  std::error_code error;
  const std::filesystem::directory_iterator fds("/proc/self/fd", error);
  if (error) return std::nullopt;
  // One of them is the directory being read.
  return static_cast<double>(std::distance(begin(fds), end(fds)) - 1);
}

std::optional<double> limit(__rlimit_resource_t resource) {
  rlimit limits{};
  if (getrlimit(resource, &limits) != 0) return std::nullopt;
  return limits.rlim_cur == RLIM_INFINITY ? -1.0 : static_cast<double>(limits.rlim_cur);
}

}  // namespace

std::vector<MetricFamily> process_metrics() {
  std::vector<MetricFamily> families;
  const auto add = [&](const char* name, MetricType type, std::optional<double> value,
                       const char* help) {
    if (value) families.push_back({name, help, type, {}, {{{}, *value, {}, 0}}});
  };
  using enum MetricType;
  const auto stat = read_stat();
  if (stat) {
    add("process_cpu_seconds_total", counter, stat->cpu_seconds,
        "CPU time spent, user and system.");
    add("process_resident_memory_bytes", gauge, stat->resident_bytes, "Resident memory size.");
    add("process_virtual_memory_bytes", gauge, stat->virtual_bytes, "Virtual memory size.");
    if (const auto boot = boot_time()) {
      add("process_start_time_seconds", gauge, *boot + stat->start_seconds,
          "Start time of the process, Unix time.");
    }
  }
  add("process_virtual_memory_max_bytes", gauge, limit(RLIMIT_AS),
      "Virtual memory allowed; -1: no limit.");
  add("process_open_fds", gauge, open_fds(), "Open file descriptors.");
  add("process_max_fds", gauge, limit(RLIMIT_NOFILE), "File descriptors allowed.");
  return families;
}

}  // namespace trainwatch
