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

#include "commands/sample/proc_counters.h"
#include "daemon/file_handle.h"
#include "trainwatch/result.h"
#include "trainwatch/time.h"

namespace trainwatch {

// The source of GPU metrics: NVML if the machine has it, a fake in tests.
struct GpuReading {
  std::uint32_t gpu = 0;
  std::optional<double> utilization_percent;  // empty: not reported (MIG, for example)
  std::optional<double> memory_percent;       // used share of the device's memory
};

class GpuSource {
 public:
  virtual ~GpuSource() = default;
  // Replaces `out`. A device that fails is left out of this reading and asked again next time.
  virtual void read(std::vector<GpuReading>& out) = 0;
};

// One value of one series, one line of a system-metrics file. The name is `name`, with `device`
// behind it where the series belongs to a numbered device ("cpu" and 3 -> "cpu3").
struct Metric {
  static constexpr std::int64_t kNoDevice = -1;
  std::string_view type;  // all three are string literals
  std::string_view name;
  std::string_view dimension;
  std::int64_t device = kNoDevice;
  double value = 0;  // percent, 1/s or bytes/s
};

// A /proc file that stays open: reading it again is one system call.
class ProcFile {
 public:
  explicit ProcFile(std::string path);
  const std::string& path() const { return path_; }
  bool available() const { return file_.valid(); }
  // The text as of now, valid until the next call; empty when it cannot be read.
  std::string_view read();

 private:
  std::string path_;
  FileHandle file_;
  std::string buffer_;
};

class HostSampler {
 public:
  // `proc` is "/proc" but in tests; `gpus` may be null. One thread.
  static Result<HostSampler> open(const std::string& proc, std::unique_ptr<GpuSource> gpus);

  // Reads everything. Rates are over the time since the last call (`monotonic` is any clock that
  // never jumps); the first call only remembers the counters and gives nothing, and so does the
  // first sight of a core. Valid until the next call.
  std::span<const Metric> tick(Nanos monotonic);

  // Figures that this machine cannot give, for a message: "/proc/diskstats".
  std::vector<std::string> missing() const;

 private:
  HostSampler(const std::string& proc, std::unique_ptr<GpuSource> gpus);
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
