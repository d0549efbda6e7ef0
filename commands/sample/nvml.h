// GPU metrics through NVIDIA's management library, loaded at run time: building needs no CUDA, and
// a machine without a driver only gets an Error that says so.
#pragma once

#include <memory>

#include "commands/sample/host_sampler.h"
#include "trainwatch/result.h"

namespace trainwatch {

// The part of NVML's stable C ABI that is used here (nvml.h: nvmlReturn_t is an int-sized enum
// whose 0 is success; nvmlDevice_t is an opaque pointer).
struct NvmlUtilization {
  unsigned int gpu;     // percent of the last sampling period in which a kernel ran
  unsigned int memory;  // percent of it in which memory was read or written; not used
};
struct NvmlMemory {  // bytes; version 1 of the structure
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
using NvmlDevice = void*;

struct NvmlApi {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*device_count)(unsigned int*) = nullptr;
  int (*device)(unsigned int, NvmlDevice*) = nullptr;
  int (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
};

// The library stays loaded until the process ends.
Result<NvmlApi> load_nvml(const char* library = "libnvidia-ml.so.1");

// Starts NVML and finds its devices; the result shuts NVML down at its end.
Result<std::unique_ptr<GpuSource>> open_nvml(const NvmlApi& api);

}  // namespace trainwatch
