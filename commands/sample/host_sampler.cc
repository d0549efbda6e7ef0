// SPDX-License-Identifier: Apache-2.0
#include "commands/sample/host_sampler.h"

#include <algorithm>
#include <utility>

namespace trainwatch {
namespace {

// Counters may step back: a disk or an interface went away, or the kernel corrected I/O wait.
std::uint64_t increase(std::uint64_t before, std::uint64_t now) {
  return now > before ? now - before : 0;
}

double rate(std::uint64_t before, std::uint64_t now, double seconds) {
  return static_cast<double>(increase(before, now)) / seconds;
}

}  // namespace

HostSampler::HostSampler(const Places& places, std::unique_ptr<GpuSource> gpus)
    : stat_(places.proc + "/stat"),
      meminfo_(places.proc + "/meminfo"),
      diskstats_(places.proc + "/diskstats"),
      net_dev_(places.proc + "/net/dev"),
      pressure_(places.proc),
      gpus_(std::move(gpus)) {
  const std::string process = places.pid > 0 ? std::to_string(places.pid) : "self";
  ProcFile own(places.proc + "/" + process + "/cgroup");
  if (const auto path = parse_cgroup_path(own.read())) cgroup_.emplace(places.cgroups, *path);
}

Result<HostSampler> HostSampler::open(const Places& places, std::unique_ptr<GpuSource> gpus) {
  HostSampler sampler(places, std::move(gpus));
  if (!sampler.stat_.available()) return Error{"cannot read " + sampler.stat_.path()};
  return sampler;
}

std::vector<std::string> HostSampler::missing() const {
  std::vector<std::string> paths;
  for (const ProcFile* file : {&meminfo_, &diskstats_, &net_dev_}) {
    if (!file->available()) paths.push_back(file->path());
  }
  return paths;
}

std::span<const Metric> HostSampler::tick(Nanos monotonic) {
  const double seconds = to_seconds(monotonic - last_);
  last_ = monotonic;
  metrics_.clear();
  sample_disks(seconds);
  sample_cores();
  sample_memory();
  sample_gpus();
  sample_network(seconds);
  pressure_.sample(seconds, metrics_);
  if (cgroup_) cgroup_->sample(seconds, metrics_);
  if (!std::exchange(primed_, true) || seconds <= 0) metrics_.clear();
  return metrics_;
}

void HostSampler::sample_disks(double seconds) {
  if (!diskstats_.available()) return;
  const DiskCounters before = std::exchange(disks_, parse_diskstats(diskstats_.read()));
  add("i/o", "IOPS", "", rate(before.operations, disks_.operations, seconds));
  add("i/o", "ReadThroughputInBytesPerSecond", "",
      rate(before.read_bytes, disks_.read_bytes, seconds));
  add("i/o", "WriteThroughputInBytesPerSecond", "",
      rate(before.written_bytes, disks_.written_bytes, seconds));
}

void HostSampler::sample_cores() {
  parse_stat(stat_.read(), cores_);
  for (const CpuTimes& now : cores_) {
    if (now.core >= last_cores_.size()) last_cores_.resize(std::size_t{now.core} + 1);
    const CpuTimes before = std::exchange(last_cores_[now.core], now);
    const std::uint64_t total = increase(before.total, now.total);
    if (before.total == 0 || total == 0) continue;  // new, or no clock tick since: nothing to say
    const auto percent = [&](std::uint64_t from, std::uint64_t to) {
      const double share = static_cast<double>(increase(from, to)) / static_cast<double>(total);
      return std::min(100 * share, 100.0);
    };
    add("cpu", "cpu", "CPUUtilization", percent(before.busy, now.busy), now.core);
    add("cpu", "cpu", "I/OWaitPercentage", percent(before.io_wait, now.io_wait), now.core);
  }
}

void HostSampler::sample_memory() {
  if (const auto used = parse_meminfo(meminfo_.read())) {
    add("memory", "MemoryUsedPercent", "", *used);
  }
}

void HostSampler::sample_gpus() {
  if (!gpus_) return;
  gpus_->read(readings_);
  using Reading = std::optional<double> GpuReading::*;
  constexpr std::pair<std::string_view, Reading> kReadings[] = {
      {"GPUUtilization", &GpuReading::utilization_percent},
      {"GPUMemoryUtilization", &GpuReading::memory_percent},
      {"GPUSmClock", &GpuReading::sm_clock_mhz},
      {"GPUMemoryClock", &GpuReading::memory_clock_mhz},
      {"GPUThrottleReasons", &GpuReading::throttle_reasons},
      {"GPUTemperature", &GpuReading::temperature_celsius},
      {"GPUPower", &GpuReading::power_watts},
      {"GPUEccErrors", &GpuReading::ecc_errors},
      {"GPUXid", &GpuReading::xid}};
  for (const GpuReading& reading : readings_) {
    for (const auto& [dimension, member] : kReadings) {
      if (const auto& value = reading.*member) add("gpu", "gpu", dimension, *value, reading.gpu);
    }
  }
}

void HostSampler::sample_network(double seconds) {
  if (!net_dev_.available()) return;
  const NetworkTotals before = std::exchange(network_, parse_net_dev(net_dev_.read()));
  const auto add_pair = [&](std::string_view dimension, const NetworkCounters& from,
                            const NetworkCounters& to) {
    add("network", "ReceiveBytesPerSecond", dimension,
        rate(from.received_bytes, to.received_bytes, seconds));
    add("network", "TransmitBytesPerSecond", dimension,
        rate(from.sent_bytes, to.sent_bytes, seconds));
  };
  add_pair("Algorithm", before.external, network_.external);
  add_pair("Platform", before.loopback, network_.loopback);
}

void HostSampler::add(std::string_view type, std::string_view name, std::string_view dimension,
                      double value, std::int64_t device) {
  metrics_.push_back({type, name, dimension, device, value});
}

}  // namespace trainwatch
