// SPDX-License-Identifier: Apache-2.0
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
using NvmlEventSet = void*;
struct NvmlEvent {
  NvmlDevice device;
  unsigned long long type;
  unsigned long long data;  // of a critical error: its XID
  unsigned int gpu_instance;
  unsigned int compute_instance;
};

struct NvmlApi {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*device_count)(unsigned int*) = nullptr;
  int (*device)(unsigned int, NvmlDevice*) = nullptr;
  int (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
  // Null where the library is too old for them.
  int (*clock)(NvmlDevice, int kind, unsigned int* mhz) = nullptr;
  int (*throttle_reasons)(NvmlDevice, unsigned long long* bits) = nullptr;
  int (*temperature)(NvmlDevice, int sensor, unsigned int* celsius) = nullptr;
  int (*power)(NvmlDevice, unsigned int* milliwatts) = nullptr;
  int (*ecc_errors)(NvmlDevice, int kind, int counter, unsigned long long* count) = nullptr;
  int (*event_set)(NvmlEventSet*) = nullptr;
  int (*free_event_set)(NvmlEventSet) = nullptr;
  int (*register_events)(NvmlDevice, unsigned long long types, NvmlEventSet) = nullptr;
  int (*wait)(NvmlEventSet, NvmlEvent*, unsigned int milliseconds) = nullptr;
};

// The library stays loaded until the process ends.
Result<NvmlApi> load_nvml(const char* library = "libnvidia-ml.so.1");

// Starts NVML and finds its devices; the result shuts NVML down at its end.
Result<std::unique_ptr<GpuSource>> open_nvml(const NvmlApi& api);

}  // namespace trainwatch
