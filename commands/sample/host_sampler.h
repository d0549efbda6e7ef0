// SPDX-License-Identifier: Apache-2.0
// Turns counters into the values of one tick: what a core, a disk or a network did since the
// previous tick, under the names of SageMaker's system metrics.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "commands/sample/cgroup.h"
#include "commands/sample/metric.h"
#include "commands/sample/pressure.h"
#include "commands/sample/proc_counters.h"
#include "commands/sample/proc_file.h"
#include "trainwatch/result.h"
#include "trainwatch/time.h"

namespace trainwatch {

// The source of GPU metrics: NVML if the machine has it, a fake in tests.
struct GpuReading {
  std::uint32_t gpu = 0;
  std::optional<double> utilization_percent{};  // empty: not reported (MIG, for example)
  std::optional<double> memory_percent{};       // used share of the device's memory
  std::optional<double> sm_clock_mhz{};
  std::optional<double> memory_clock_mhz{};
  std::optional<double> throttle_reasons{};  // bits: nvmlClocksEventReason* of nvml.h
  std::optional<double> temperature_celsius{};
  std::optional<double> power_watts{};
  std::optional<double> ecc_errors{};  // uncorrected, since the driver was loaded
  std::optional<double> xid{};         // of the last critical error; 0: none
};

class GpuSource {
 public:
  virtual ~GpuSource() = default;
  // Replaces `out`. What a device does not say is empty, and asked again next time.
  virtual void read(std::vector<GpuReading>& out) = 0;
};

class HostSampler {
 public:
  struct Places {
    std::string proc;     // "/proc"
    std::string cgroups;  // "/sys/fs/cgroup"
    int pid = 0;          // whose limits; 0: this process's
  };
  // `gpus` may be null. One thread.
  static Result<HostSampler> open(const Places& places, std::unique_ptr<GpuSource> gpus);

  // Reads everything. Rates are over the time since the last call (`monotonic` is any clock that
  // never jumps); the first call only remembers the counters and gives nothing, and so does the
  // first sight of a core. Valid until the next call.
  std::span<const Metric> tick(Nanos monotonic);

  // Figures that this machine cannot give, for a message: "/proc/diskstats".
  std::vector<std::string> missing() const;

 private:
  HostSampler(const Places& places, std::unique_ptr<GpuSource> gpus);
  void sample_disks(double seconds);
  void sample_cores();
  void sample_memory();
  void sample_gpus();
  void sample_network(double seconds);
  void add(std::string_view type, std::string_view name, std::string_view dimension, double value,
           std::int64_t device = Metric::kNoDevice);

  ProcFile stat_;
  ProcFile meminfo_;
  ProcFile diskstats_;
  ProcFile net_dev_;
  PressureSampler pressure_;
  std::optional<CgroupSampler> cgroup_;
  std::unique_ptr<GpuSource> gpus_;
  bool primed_ = false;
  Nanos last_{};
  std::vector<CpuTimes> cores_;       // this tick's
  std::vector<CpuTimes> last_cores_;  // by core number; total 0: not seen yet
  DiskCounters disks_;
  NetworkTotals network_;
  std::vector<GpuReading> readings_;
  std::vector<Metric> metrics_;
};

}  // namespace trainwatch
