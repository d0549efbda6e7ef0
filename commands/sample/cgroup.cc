// SPDX-License-Identifier: Apache-2.0
#include "commands/sample/cgroup.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace trainwatch {
namespace {

std::uint64_t grown_by(std::uint64_t before, std::uint64_t now) {
  return now > before ? now - before : 0;
}

// 0 for "max", too.
std::uint64_t whole_number(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// A file says "max" if there is no limit. In cpu.max, the period follows the quota.
bool limited(const std::string& file) {
  return whole_number(ProcFile(file).read()) > 0;
}

// The directory of the group and of those above it, the group's own first.
std::vector<std::string> groups(const std::string& root, std::string path) {
  std::vector<std::string> all;
  while (path.size() > 1 && path.find("/..") == std::string::npos) {
    all.push_back(root + path);
    path.resize(path.rfind('/'));
  }
  all.push_back(root);
  return all;
}

// The sum over all devices: "8:0 rbytes=1 wbytes=2 rios=1 ...", a line each.
std::uint64_t sum_of(std::string_view text, std::string_view name) {
  std::uint64_t sum = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    sum += number_after(text.substr(0, end), name, '=');
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return sum;
}

}  // namespace

std::uint64_t number_after(std::string_view text, std::string_view name, char separator) {
  const std::string wanted = std::string(name) + separator;
  std::size_t found = text.find(wanted);
  while (found != std::string_view::npos && found > 0 && text[found - 1] != '\n' &&
         text[found - 1] != ' ') {
    found = text.find(wanted, found + 1);
  }
  if (found == std::string_view::npos) return 0;
  return whole_number(text.substr(found + wanted.size()));
}

std::optional<std::string> parse_cgroup_path(std::string_view text) {
  constexpr std::string_view kUnified = "0::";
  std::size_t found = text.find(kUnified);
  while (found != std::string_view::npos && found > 0 && text[found - 1] != '\n') {
    found = text.find(kUnified, found + 1);
  }
  if (found == std::string_view::npos) return std::nullopt;
  text.remove_prefix(found + kUnified.size());
  const std::string_view path = text.substr(0, text.find('\n'));
  if (!path.starts_with('/')) return std::nullopt;
  return std::string(path);
}

CgroupSampler::CgroupSampler(const std::string& root, const std::string& path)
    : disks_(groups(root, path).front() + "/io.stat") {
  for (const std::string& group : groups(root, path)) {
    if (!cpu_ && limited(group + "/cpu.max")) cpu_.emplace(group + "/cpu.stat");
    if (!memory_ && limited(group + "/memory.max")) {
      memory_.emplace(Memory{ProcFile(group + "/memory.max"), ProcFile(group + "/memory.current"),
                             ProcFile(group + "/memory.stat")});
    }
  }
}

void CgroupSampler::sample(double seconds, std::vector<Metric>& out) {
  sample_cpu(out);
  sample_memory(out);
  sample_disks(seconds, out);
}

void CgroupSampler::sample_cpu(std::vector<Metric>& out) {
  if (!cpu_) return;
  const std::string_view text = cpu_->read();
  const std::uint64_t periods = number_after(text, "nr_periods");
  const std::uint64_t throttled = number_after(text, "nr_throttled");
  const std::uint64_t passed = grown_by(std::exchange(periods_, periods), periods);
  const std::uint64_t full = grown_by(std::exchange(throttled_, throttled), throttled);
  // Without a period since, nothing ran.
  const double share = passed == 0 ? 0 : static_cast<double>(full) / static_cast<double>(passed);
  out.push_back(
      {"cgroup", "CPUThrottledPercent", "", Metric::kNoDevice, std::min(100 * share, 100.0)});
}

// Inactive page cache can be reclaimed, and does not count.
void CgroupSampler::sample_memory(std::vector<Metric>& out) {
  if (!memory_) return;
  const std::uint64_t limit = whole_number(memory_->limit.read());
  const std::uint64_t current = whole_number(memory_->used.read());
  const std::uint64_t cache = number_after(memory_->parts.read(), "inactive_file");
  if (limit == 0) return;  // lifted
  const double used = static_cast<double>(grown_by(cache, current));
  const double percent = std::min(100 * used / static_cast<double>(limit), 100.0);
  out.push_back({"cgroup", "MemoryUsedPercent", "", Metric::kNoDevice, percent});
}

void CgroupSampler::sample_disks(double seconds, std::vector<Metric>& out) {
  if (!disks_.available()) return;
  const std::string_view text = disks_.read();
  const std::uint64_t read = sum_of(text, "rbytes");
  const std::uint64_t written = sum_of(text, "wbytes");
  const std::uint64_t in = grown_by(std::exchange(read_, read), read);
  const std::uint64_t to = grown_by(std::exchange(written_, written), written);
  if (!std::exchange(disks_known_, true) || seconds <= 0) return;
  const auto add = [&](std::string_view name, std::uint64_t bytes) {
    out.push_back({"cgroup", name, "", Metric::kNoDevice, static_cast<double>(bytes) / seconds});
  };
  add("ReadThroughputInBytesPerSecond", in);
  add("WriteThroughputInBytesPerSecond", to);
}

}  // namespace trainwatch
