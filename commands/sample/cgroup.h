// SPDX-License-Identifier: Apache-2.0
// The limits of the container (cgroup v2) that a process runs in, and how close it is to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/sample/metric.h"
#include "commands/sample/proc_file.h"

namespace trainwatch {

// The number after `name` and a space, or after `name` and '=' if that is `separator`, at the
// beginning of a word.
std::uint64_t number_after(std::string_view text, std::string_view name, char separator = ' ');
// The path of cgroup v2 in the text of /proc/PID/cgroup: "0::/user.slice" -> "/user.slice".
std::optional<std::string> parse_cgroup_path(std::string_view text);

class CgroupSampler {
 public:
  // `root` is /sys/fs/cgroup but in tests, `path` as above. The limit on memory and that on the CPU
  // are of the nearest group that has one, upwards from `path`.
  CgroupSampler(const std::string& root, const std::string& path);

  // `seconds` is the time since the last call.
  void sample(double seconds, std::vector<Metric>& out);

 private:
  void sample_cpu(std::vector<Metric>& out);
  void sample_memory(std::vector<Metric>& out);
  void sample_disks(double seconds, std::vector<Metric>& out);

  struct Memory {
    ProcFile limit;
    ProcFile used;
    ProcFile parts;
  };
  std::optional<ProcFile> cpu_;  // cpu.stat
  std::optional<Memory> memory_;
  ProcFile disks_;  // io.stat
  std::uint64_t periods_ = 0;
  std::uint64_t throttled_ = 0;
  std::uint64_t read_ = 0;
  std::uint64_t written_ = 0;
  bool disks_known_ = false;
};

}  // namespace trainwatch
