#include "commands/sample/nvml.h"

#include <dlfcn.h>

#include <string>
#include <utility>

namespace trainwatch {
namespace {

constexpr int kSuccess = 0;

class NvmlGpus final : public GpuSource {
 public:
  // Takes over an initialised NVML.
  explicit NvmlGpus(const NvmlApi& api) : api_(api) {}
  ~NvmlGpus() override { api_.shutdown(); }
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
    return success();
  }

  void read(std::vector<GpuReading>& out) override {
    out.clear();
    for (const auto& [index, device] : devices_) {
      GpuReading reading{index, {}, {}};
      NvmlUtilization utilization{};
      if (api_.utilization(device, &utilization) == kSuccess) {
        reading.utilization_percent = static_cast<double>(utilization.gpu);
      }
      NvmlMemory memory{};
      if (api_.memory(device, &memory) == kSuccess && memory.total > 0) {
        reading.memory_percent =
            100 * static_cast<double>(memory.used) / static_cast<double>(memory.total);
      }
      if (reading.utilization_percent || reading.memory_percent) out.push_back(reading);
    }
  }

 private:
  NvmlApi api_;
  std::vector<std::pair<unsigned int, NvmlDevice>> devices_;
};

template <class Function>
bool find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  return out != nullptr;
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
