// SPDX-License-Identifier: Apache-2.0
// Reads the kernel's counters out of the text of /proc files. Pure functions: text in, numbers out;
// unknown lines are skipped, so newer kernels do no harm.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace trainwatch {

// Times of one core since boot, in clock ticks. `busy` is everything but idle and I/O wait (time
// stolen by a hypervisor counts as busy: it was wanted and not had).
struct CpuTimes {
  std::uint32_t core = 0;
  std::uint64_t busy = 0;
  std::uint64_t io_wait = 0;
  std::uint64_t total = 0;
};

// Sums over physical disks. Partitions, and devices stacked on disks (dm, md, loop, ram, zram),
// are left out: their traffic is in the disks' counters already.
struct DiskCounters {
  std::uint64_t operations = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
};

struct NetworkCounters {
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_bytes = 0;
};

// `external` leaves out interfaces whose traffic another one carries again (bridges, veth, VLANs,
// bonds); `loopback` is what processes of this host send each other.
struct NetworkTotals {
  NetworkCounters external;
  NetworkCounters loopback;
};

void parse_stat(std::string_view text, std::vector<CpuTimes>& out);  // replaces `out`
// Percent of memory that is not available to new processes; empty when the file does not say.
std::optional<double> parse_meminfo(std::string_view text);
DiskCounters parse_diskstats(std::string_view text);
NetworkTotals parse_net_dev(std::string_view text);

}  // namespace trainwatch
