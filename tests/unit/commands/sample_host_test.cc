// SPDX-License-Identifier: Apache-2.0
// A machine made of files: what one tick says about what changed between two readings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "commands/sample/host_sampler.h"

namespace trainwatch::sample_host_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

class FakeGpus final : public GpuSource {
 public:
  void read(std::vector<GpuReading>& out) override {
    out = {{0, 80.0, 25.5}, {1, std::nullopt, 3.0}};
  }
};

class HostSamplerTest : public testing::Test {
 protected:
  void SetUp() override {
    proc_ = testing::TempDir() + "proc_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(proc_);
    std::filesystem::create_directories(proc_ + "/net");
    put("stat", "cpu0 100 0 0 1000 10 0 0 0\ncpu1 100 0 0 1000 0 0 0 0\n");
    put("meminfo", "MemTotal: 1000 kB\nMemAvailable: 600 kB\n");
    put("diskstats", "8 0 sda 10 0 100 0 10 0 100 0\n");
    put("net/dev", "eth0: 1000 0 0 0 0 0 0 0 2000\nlo: 10 0 0 0 0 0 0 0 10\n");
  }
  void TearDown() override { std::filesystem::remove_all(proc_); }

  void put(const std::string& name, const std::string& text) {
    std::ofstream(proc_ + "/" + name, std::ios::trunc) << text;
  }
  HostSampler open(std::unique_ptr<GpuSource> gpus = nullptr) {
    return std::move(*HostSampler::open({proc_, proc_ + "/cgroups"}, std::move(gpus)));
  }
  static std::vector<std::string> lines(std::span<const Metric> metrics) {
    std::vector<std::string> out;
    for (const Metric& metric : metrics) {
      std::string line = std::string(metric.name);
      if (metric.device != Metric::kNoDevice) line += std::to_string(metric.device);
      if (!metric.dimension.empty()) line += " " + std::string(metric.dimension);
      char value[32];
      std::snprintf(value, sizeof value, " %g", metric.value);
      out.push_back(line + value);
    }
    return out;
  }

  std::string proc_;
};

TEST_F(HostSamplerTest, TheFirstTickOnlyPrimes) {
  HostSampler host = open(std::make_unique<FakeGpus>());
  EXPECT_TRUE(host.tick(seconds{5}).empty());
  EXPECT_FALSE(host.tick(seconds{6}).empty());
}

TEST_F(HostSamplerTest, SaysEverythingInTheOrderOfRealFiles) {
  HostSampler host = open(std::make_unique<FakeGpus>());
  host.tick(seconds{5});
  put("stat", "cpu0 140 0 0 1050 20 0 0 0\ncpu1 100 0 0 1100 0 0 0 0\n");
  put("meminfo", "MemTotal: 1000 kB\nMemAvailable: 500 kB\n");
  put("diskstats", "8 0 sda 20 0 200 0 15 0 100 0\n");
  put("net/dev", "eth0: 6000 0 0 0 0 0 0 0 2500\nlo: 20 0 0 0 0 0 0 0 15\n");
  EXPECT_THAT(
      lines(host.tick(seconds{5} + milliseconds{500})),
      testing::ElementsAre(
          "IOPS 30", "ReadThroughputInBytesPerSecond 102400", "WriteThroughputInBytesPerSecond 0",
          "cpu0 CPUUtilization 40", "cpu0 I/OWaitPercentage 10", "cpu1 CPUUtilization 0",
          "cpu1 I/OWaitPercentage 0", "MemoryUsedPercent 50", "gpu0 GPUUtilization 80",
          "gpu0 GPUMemoryUtilization 25.5", "gpu1 GPUMemoryUtilization 3",
          "ReceiveBytesPerSecond Algorithm 10000", "TransmitBytesPerSecond Algorithm 1000",
          "ReceiveBytesPerSecond Platform 20", "TransmitBytesPerSecond Platform 10"));
}

TEST_F(HostSamplerTest, SaysHowTheGpusAre) {
  class Gpus final : public GpuSource {
   public:
    void read(std::vector<GpuReading>& out) override {
      GpuReading reading{.gpu = 1};
      reading.sm_clock_mhz = 1410;
      reading.memory_clock_mhz = 1593;
      reading.throttle_reasons = 4;
      reading.temperature_celsius = 61;
      reading.power_watts = 312.5;
      reading.ecc_errors = 0;
      reading.xid = 79;
      out = {reading};
    }
  };
  HostSampler host = open(std::make_unique<Gpus>());
  host.tick(seconds{1});
  EXPECT_THAT(
      lines(host.tick(seconds{2})),
      testing::IsSupersetOf({"gpu1 GPUSmClock 1410", "gpu1 GPUMemoryClock 1593",
                             "gpu1 GPUThrottleReasons 4", "gpu1 GPUTemperature 61",
                             "gpu1 GPUPower 312.5", "gpu1 GPUEccErrors 0", "gpu1 GPUXid 79"}));
}

TEST_F(HostSamplerTest, SaysPressureAndTheLimitsOfTheContainer) {
  std::filesystem::create_directories(proc_ + "/pressure");
  std::filesystem::create_directories(proc_ + "/self");
  std::filesystem::create_directories(proc_ + "/cgroups/pod/job");
  put("pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n");
  put("pressure/io", "some avg10=0.00 avg60=0 total=500\nfull avg10=0.00 avg60=0 total=0\n");
  put("self/cgroup", "1:cpu:/\n0::/pod/job\n");
  put("cgroups/pod/cpu.max", "200000 100000\n");
  put("cgroups/pod/cpu.stat", "usage_usec 1\nnr_periods 10\nnr_throttled 2\n");
  put("cgroups/pod/job/cpu.max", "max 100000\n");
  put("cgroups/pod/job/memory.max", "1000\n");
  put("cgroups/pod/job/memory.current", "700\n");
  put("cgroups/pod/job/memory.stat", "anon 400\ninactive_file 200\n");
  put("cgroups/pod/job/io.stat",
      "8:0 rbytes=1000 wbytes=0 rios=1\n8:16 rbytes=5 wbytes=7 rios=1\n");
  HostSampler host = open();
  host.tick(seconds{1});
  put("pressure/cpu", "some avg10=1.00 avg60=0.00 avg300=0.00 total=251000\n");
  put("pressure/io", "some avg10=1.00 avg60=0 total=60500\nfull avg10=0.00 avg60=0 total=25000\n");
  put("cgroups/pod/cpu.stat", "usage_usec 1\nnr_periods 30\nnr_throttled 7\n");
  put("cgroups/pod/job/io.stat",
      "8:0 rbytes=3000 wbytes=0 rios=1\n8:16 rbytes=5 wbytes=9 rios=1\n");
  const auto said = lines(host.tick(seconds{3}));
  EXPECT_THAT(said,
              testing::IsSupersetOf(
                  {"CPUPressureSome 12.5", "IOPressureSome 3", "IOPressureFull 1.25",
                   "CPUThrottledPercent 25", "MemoryUsedPercent 40", "MemoryUsedPercent 50",
                   "ReadThroughputInBytesPerSecond 1000", "WriteThroughputInBytesPerSecond 1"}));
  EXPECT_THAT(said, testing::Not(testing::Contains(testing::HasSubstr("CPUPressureFull"))));
}

TEST_F(HostSamplerTest, CountersThatStepBackGiveZeroNotAHugeRate) {
  HostSampler host = open();
  host.tick(seconds{1});
  put("stat", "cpu0 150 0 0 1040 5 0 0 0\n");
  put("diskstats", "");
  put("net/dev", "lo: 0 0 0 0 0 0 0 0 0\n");
  for (const Metric& metric : host.tick(seconds{2})) {
    if (metric.dimension == "I/OWaitPercentage" || metric.type == "i/o" ||
        metric.type == "network") {
      EXPECT_EQ(metric.value, 0) << metric.name;
    }
  }
}

TEST_F(HostSamplerTest, ACoreThatComesOnlineIsSilentForOneTick) {
  HostSampler host = open();
  host.tick(seconds{1});
  const std::string with_third =
      "cpu0 110 0 0 1090 10 0 0 0\ncpu1 110 0 0 1090 0 0 0 0\ncpu7 9 0 0 1 0 0 0 0\n";
  put("stat", with_third);
  const auto first = lines(host.tick(seconds{2}));
  EXPECT_THAT(first, testing::Not(testing::Contains(testing::HasSubstr("cpu7"))));
  put("stat", "cpu7 18 0 0 2 0 0 0 0\n");
  EXPECT_THAT(lines(host.tick(seconds{3})), testing::Contains("cpu7 CPUUtilization 90"));
}

TEST_F(HostSamplerTest, WhatTheMachineLacksIsNamedAndLeftOut) {
  std::filesystem::remove(proc_ + "/diskstats");
  HostSampler host = open();
  EXPECT_THAT(host.missing(), testing::ElementsAre(proc_ + "/diskstats"));
  host.tick(seconds{1});
  EXPECT_THAT(lines(host.tick(seconds{2})),
              testing::Not(testing::Contains(testing::HasSubstr("IOPS"))));
}

TEST_F(HostSamplerTest, WithoutCpuTimesThereIsNoSampler) {
  std::filesystem::remove(proc_ + "/stat");
  const auto host = HostSampler::open({proc_, proc_ + "/cgroups"}, nullptr);
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().message, "cannot read " + proc_ + "/stat");
}

TEST(HostSampler, ReadsThisMachine) {
  auto host = HostSampler::open({"/proc", "/sys/fs/cgroup"}, nullptr);
  ASSERT_TRUE(host);
  host->tick(seconds{1});
  for (const Metric& metric : host->tick(seconds{2})) EXPECT_GE(metric.value, 0) << metric.name;
}

}  // namespace trainwatch::sample_host_test
