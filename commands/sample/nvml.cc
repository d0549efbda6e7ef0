// SPDX-License-Identifier: Apache-2.0
#include "commands/sample/nvml.h"

#include <dlfcn.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace trainwatch {
namespace {

constexpr int kSuccess = 0;

// Arguments of nvml.h.
constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kDie = 0;          // the temperature sensor
constexpr int kUncorrected = 1;  // ECC errors
constexpr int kVolatile = 0;     // since the driver was loaded
constexpr unsigned long long kCriticalErrors = 8;

// The last critical error of each device, if the library reports them.
class NvmlErrors {
 public:
  explicit NvmlErrors(const NvmlApi& api) : api_(api) {
    const bool complete = api.event_set != nullptr && api.free_event_set != nullptr &&
                          api.register_events != nullptr && api.wait != nullptr;
    if (complete && api.event_set(&set_) != kSuccess) set_ = nullptr;
  }
  ~NvmlErrors() {
    if (set_ != nullptr) api_.free_event_set(set_);
  }
  NvmlErrors(const NvmlErrors&) = delete;
  NvmlErrors& operator=(const NvmlErrors&) = delete;

  void watch(NvmlDevice device) {
    if (set_ == nullptr || api_.register_events(device, kCriticalErrors, set_) != kSuccess) return;
    last_[device] = 0;
  }
  // Takes what has happened since the last call; does not wait.
  void poll() {
    constexpr int kMost = 64;  // of one tick; a broken device may repeat itself
    NvmlEvent event{};
    for (int i = 0; i < kMost && !last_.empty() && api_.wait(set_, &event, 0) == kSuccess; ++i) {
      const auto watched = last_.find(event.device);
      if (watched != last_.end()) watched->second = static_cast<double>(event.data);
    }
  }
  // 0: none; empty: the device does not report them.
  std::optional<double> of(NvmlDevice device) const {
    const auto watched = last_.find(device);
    return watched == last_.end() ? std::nullopt : std::optional(watched->second);
  }

 private:
  const NvmlApi& api_;
  NvmlEventSet set_ = nullptr;
  std::map<NvmlDevice, double> last_;
};

// What `function` says of the device; empty if it cannot or is not there. The arguments come before
// the result, as everywhere in NVML.
template <class Function, class Number, class... Arguments>
std::optional<double> figure(Function* function, Number number, NvmlDevice device,
                             Arguments... arguments) {
  if (function == nullptr || function(device, arguments..., &number) != kSuccess) return {};
  return static_cast<double>(number);
}

class NvmlGpus final : public GpuSource {
 public:
  // Takes over an initialised NVML.
  explicit NvmlGpus(const NvmlApi& api) : api_(api), errors_(std::make_unique<NvmlErrors>(api_)) {}
  ~NvmlGpus() override {
    errors_.reset();
    api_.shutdown();
  }
  NvmlGpus(const NvmlGpus&) = delete;
  NvmlGpus& operator=(const NvmlGpus&) = delete;

  Status find_devices() {
    unsigned int count = 0;
    if (const int code = api_.device_count(&count); code != kSuccess) {
      return Error{"NVML cannot count GPUs (error " + std::to_string(code) + ")"};
    }
    for (unsigned int index = 0; index < count; ++index) {
      NvmlDevice device = nullptr;
      if (api_.device(index, &device) == kSuccess) devices_.emplace_back(index, device);
    }
    if (devices_.empty()) return Error{"NVML found no GPU"};
    for (const auto& [index, device] : devices_) errors_->watch(device);
    return success();
  }

  void read(std::vector<GpuReading>& out) override {
    out.clear();
    errors_->poll();
    for (const auto& [index, device] : devices_) {
      GpuReading reading;
      reading.gpu = index;
      NvmlUtilization utilization{};
      if (api_.utilization(device, &utilization) == kSuccess) {
        reading.utilization_percent = static_cast<double>(utilization.gpu);
      }
      NvmlMemory memory{};
      if (api_.memory(device, &memory) == kSuccess && memory.total > 0) {
        reading.memory_percent =
            100 * static_cast<double>(memory.used) / static_cast<double>(memory.total);
      }
      read_health(device, reading);
      out.push_back(reading);
    }
  }

 private:
  void read_health(NvmlDevice device, GpuReading& reading) const {
    reading.sm_clock_mhz = figure(api_.clock, 0U, device, kSmClock);
    reading.memory_clock_mhz = figure(api_.clock, 0U, device, kMemoryClock);
    reading.throttle_reasons = figure(api_.throttle_reasons, 0ULL, device);
    reading.temperature_celsius = figure(api_.temperature, 0U, device, kDie);
    reading.power_watts = figure(api_.power, 0U, device);
    if (reading.power_watts) *reading.power_watts /= 1000;
    reading.ecc_errors = figure(api_.ecc_errors, 0ULL, device, kUncorrected, kVolatile);
    reading.xid = errors_->of(device);
  }

  NvmlApi api_;
  std::unique_ptr<NvmlErrors> errors_;
  std::vector<std::pair<unsigned int, NvmlDevice>> devices_;
};

template <class Function>
bool find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  return out != nullptr;
}

void find_health(void* library, NvmlApi& api) {
  find(library, "nvmlDeviceGetClockInfo", api.clock);
  if (!find(library, "nvmlDeviceGetCurrentClocksEventReasons", api.throttle_reasons)) {
    // Its name before R535.
    find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", api.throttle_reasons);
  }
  find(library, "nvmlDeviceGetTemperature", api.temperature);
  find(library, "nvmlDeviceGetPowerUsage", api.power);
  find(library, "nvmlDeviceGetTotalEccErrors", api.ecc_errors);
  find(library, "nvmlEventSetCreate", api.event_set);
  find(library, "nvmlEventSetFree", api.free_event_set);
  find(library, "nvmlDeviceRegisterEvents", api.register_events);
  find(library, "nvmlEventSetWait_v2", api.wait);
}

}  // namespace

Result<NvmlApi> load_nvml(const char* library) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Error{std::string(library) + " is not installed"};
  NvmlApi api;
  const bool complete = find(handle, "nvmlInit_v2", api.init) &&
                        find(handle, "nvmlShutdown", api.shutdown) &&
                        find(handle, "nvmlDeviceGetCount_v2", api.device_count) &&
                        find(handle, "nvmlDeviceGetHandleByIndex_v2", api.device) &&
                        find(handle, "nvmlDeviceGetUtilizationRates", api.utilization) &&
                        find(handle, "nvmlDeviceGetMemoryInfo", api.memory);
  if (!complete) return Error{std::string(library) + " lacks a required function"};
  find_health(handle, api);
  return api;
}

Result<std::unique_ptr<GpuSource>> open_nvml(const NvmlApi& api) {
  if (const int code = api.init(); code != kSuccess) {
    return Error{"NVML initialisation failed (error " + std::to_string(code) + ")"};
  }
  auto gpus = std::make_unique<NvmlGpus>(api);
  if (Status found = gpus->find_devices(); !found) return found.error();
  return std::unique_ptr<GpuSource>(std::move(gpus));
}

}  // namespace trainwatch
