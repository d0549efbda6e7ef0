// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "commands/sample/proc_counters.h"

namespace trainwatch::sample_counters_test {

TEST(ProcStat, GivesOneEntryPerCoreAndSkipsTheSum) {
  std::vector<CpuTimes> cores;
  parse_stat(
      "cpu  10 0 10 200 20 0 0 0 0 0\n"
      "cpu0 5 1 4 100 20 2 3 7 5 0\n"
      "cpu12 5 0 5 90 0 0 0 0\n"
      "intr 12345 0 1\nctxt 1\n",
      cores);
  ASSERT_EQ(cores.size(), 2U);
  EXPECT_EQ(cores[0].core, 0U);
  EXPECT_EQ(cores[0].busy, 5U + 1 + 4 + 2 + 3 + 7);  // guest time is in user already
  EXPECT_EQ(cores[0].io_wait, 20U);
  EXPECT_EQ(cores[0].total, 142U);
  EXPECT_EQ(cores[1].core, 12U);
}

TEST(ProcStat, ReplacesWhatWasThere) {
  std::vector<CpuTimes> cores(3);
  parse_stat("", cores);
  EXPECT_TRUE(cores.empty());
}

TEST(ProcMeminfo, IsTheShareThatIsNotAvailable) {
  EXPECT_DOUBLE_EQ(*parse_meminfo("MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable: 250 kB\n"), 75);
  EXPECT_FALSE(parse_meminfo("MemTotal: 1000 kB\n"));
  EXPECT_FALSE(parse_meminfo("MemAvailable: 1000 kB\n"));
}

TEST(ProcDiskstats, SumsDisksAndLeavesOutPartitionsAndStackedDevices) {
  const DiskCounters sum = parse_diskstats(
      "   7       0 loop0 9 0 9 0 9 0 9 0 0 0 0\n"
      "   8       0 sda 100 5 2000 50 30 2 400 9 0 9 9\n"
      "   8       1 sda1 90 5 1000 50 30 2 400 9 0 9 9\n"
      " 259       0 nvme0n1 1 0 8 0 2 0 16 0 0 0 0\n"
      " 259       1 nvme0n1p1 1 0 8 0 2 0 16 0 0 0 0\n"
      " 253       0 dm-0 7 0 7 0 7 0 7 0 0 0 0\n");
  EXPECT_EQ(sum.operations, 133U);
  EXPECT_EQ(sum.read_bytes, 2008U * 512);
  EXPECT_EQ(sum.written_bytes, 416U * 512);
}

TEST(ProcDiskstats, ANumberBehindANameThatEndsInADigitIsAnotherDisk) {
  EXPECT_EQ(
      parse_diskstats(" 259 0 nvme0n1 1 0 0 0 0 0 0\n 259 9 nvme0n10 1 0 0 0 0 0 0\n").operations,
      2U);
}

TEST(ProcNetDev, SeparatesLoopbackAndCountsCarriedTrafficOnce) {
  const NetworkTotals totals = parse_net_dev(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
      "    lo:  500 1 0 0 0 0 0 0  500 1 0 0 0 0 0 0\n"
      "  eth0: 1000 1 0 0 0 0 0 0  300 1 0 0 0 0 0 0\n"
      "  ib0:1 1 0 0 0 0 0 0 2 1 0 0 0 0 0 0\n"
      "eth0.7: 9999 1 0 0 0 0 0 0 9999 1 0 0 0 0 0 0\n"
      "docker0: 9999 1 0 0 0 0 0 0 9999 1 0 0 0 0 0 0\n");
  EXPECT_EQ(totals.external.received_bytes, 1001U);
  EXPECT_EQ(totals.external.sent_bytes, 302U);
  EXPECT_EQ(totals.loopback.received_bytes, 500U);
  EXPECT_EQ(totals.loopback.sent_bytes, 500U);
}

}  // namespace trainwatch::sample_counters_test
