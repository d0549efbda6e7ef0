// SPDX-License-Identifier: Apache-2.0
#include "commands/sample/proc_counters.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace trainwatch {
namespace {

constexpr std::uint64_t kSectorBytes = 512;  // of /proc/diskstats, whatever the disk's own is

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view next_word(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

std::uint64_t next_number(std::string_view& line) {
  const std::string_view word = next_word(line);
  std::uint64_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// The kernel's naming: "sda" -> "sda1", but "nvme0n1" -> "nvme0n1p1". A disk is listed before its
// partitions.
bool is_partition_of(std::string_view name, std::string_view disk) {
  if (disk.empty() || !name.starts_with(disk)) return false;
  std::string_view rest = name.substr(disk.size());
  if (all_digits(disk.substr(disk.size() - 1))) {
    if (!rest.starts_with('p')) return false;
    rest.remove_prefix(1);
  }
  return all_digits(rest);
}

bool carried_by_another_interface(std::string_view name) {
  return starts_with_any(name, {"veth", "docker", "br-", "virbr", "bond", "team"}) ||
         name.find('.') != std::string_view::npos;
}

}  // namespace

void parse_stat(std::string_view text, std::vector<CpuTimes>& out) {
  out.clear();
  while (!text.empty()) {
    std::string_view line = next_line(text);
    const std::string_view name = next_word(line);
    if (!name.starts_with("cpu")) continue;
    const std::string_view number = name.substr(3);
    if (!all_digits(number)) continue;  // "cpu" alone is the sum of all
    CpuTimes times;
    std::from_chars(number.data(), number.data() + number.size(), times.core);
    // user nice system idle iowait irq softirq steal; guest times after these are part of user.
    std::array<std::uint64_t, 8> fields{};
    for (std::uint64_t& field : fields) {
      field = next_number(line);
      times.total += field;
    }
    times.io_wait = fields[4];
    times.busy = times.total - fields[3] - fields[4];
    out.push_back(times);
  }
}

std::optional<double> parse_meminfo(std::string_view text) {
  std::uint64_t total = 0;
  std::optional<std::uint64_t> available;
  while (!text.empty() && !(total > 0 && available)) {
    std::string_view line = next_line(text);
    const std::string_view name = next_word(line);
    if (name == "MemTotal:") total = next_number(line);
    if (name == "MemAvailable:") available = next_number(line);
  }
  if (total == 0 || !available) return std::nullopt;
  const double used = static_cast<double>(total) - static_cast<double>(*available);
  return std::clamp(100 * used / static_cast<double>(total), 0.0, 100.0);
}

DiskCounters parse_diskstats(std::string_view text) {
  DiskCounters sum;
  std::string_view disk;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    next_word(line);  // major
    next_word(line);  // minor
    const std::string_view name = next_word(line);
    if (name.empty() || starts_with_any(name, {"loop", "ram", "zram", "dm-", "md"})) continue;
    if (is_partition_of(name, disk)) continue;
    disk = name;
    const std::uint64_t reads = next_number(line);
    next_number(line);  // merged
    const std::uint64_t sectors_read = next_number(line);
    next_number(line);  // milliseconds
    const std::uint64_t writes = next_number(line);
    next_number(line);
    const std::uint64_t sectors_written = next_number(line);
    sum.operations += reads + writes;
    sum.read_bytes += sectors_read * kSectorBytes;
    sum.written_bytes += sectors_written * kSectorBytes;
  }
  return sum;
}

NetworkTotals parse_net_dev(std::string_view text) {
  NetworkTotals totals;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;  // the two heading lines
    std::string_view head = line.substr(0, colon);
    const std::string_view name = next_word(head);
    if (name != "lo" && carried_by_another_interface(name)) continue;
    line.remove_prefix(colon + 1);
    NetworkCounters& sum = name == "lo" ? totals.loopback : totals.external;
    sum.received_bytes += next_number(line);
    for (int skipped = 0; skipped < 7; ++skipped) next_number(line);
    sum.sent_bytes += next_number(line);
  }
  return totals;
}

}  // namespace trainwatch
