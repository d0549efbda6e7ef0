// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/kineto/event_category.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "pipeline/decode/json_cursor.h"

namespace trainwatch {
namespace {

using Texts = std::span<const std::string_view>;

constexpr std::string_view kCommunicationFirst[] = {"nccl", "hip", "hccl"};
// HTA knows the first only, which kernels are no longer called since NCCL 2.19.
constexpr std::string_view kCommunicationInside[] = {"ncclKernel", "ncclDevKernel"};
constexpr std::string_view kMemoryFirst[] = {"Memcpy", "Memset", "dma"};
constexpr std::string_view kOtherFirst[] = {
    "Stream Wait Event",
    "runFunction",
    "job_exe",
    "packet",
    "pe_exe",
    "cpum_exe_subgraph",
    "collective_subgraph_execution",
};
constexpr std::string_view kOtherInside[] = {"Memcpy", "Memset", "dma", "Sync"};

// Names of the calls of CUDA, HIP, Level Zero, SYCL and MTIA that start activities on a device.
constexpr std::string_view kLaunchInside[] = {"Launch", "Memcpy",  "Memset",
                                              "Memory", "Enqueue", "runFunction"};

bool name_begins_with_one(std::string_view name, Texts texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [name](std::string_view text) { return name.starts_with(text); });
}

bool name_holds(std::string_view name, std::string_view text) {
  return name.find(text) != std::string_view::npos;
}

bool name_holds_one(std::string_view name, Texts texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [name](std::string_view text) { return name_holds(name, text); });
}

bool is_cuda_launch(std::string_view name) {
  return name.starts_with("cuda") && name_holds(name.substr(4), "LaunchKernel");
}

}  // namespace

// By length first: every event passes here, and most are operators and calls.
EventCategory event_category(std::string_view token) {
  const std::string_view name = between_quotes(token);
  switch (name.size()) {
    case 6:
      if (name == "cpu_op") return EventCategory::host;
      if (name == "kernel" || name == "Kernel") return EventCategory::kernel;
      if (name == "Memcpy") return EventCategory::memory_copy;
      if (name == "Memset") return EventCategory::memory_set;
      if (name == "hpu_op") return EventCategory::accelerator;
      break;
    case 7:
      if (name == "Runtime") return EventCategory::call;
      break;
    case 8:
      if (name == "Operator") return EventCategory::host;
      if (name == "xpu_sync") return EventCategory::sync;
      break;
    case 9:
      if (name == "cuda_sync") return EventCategory::sync;
      break;
    case 10:
      if (name == "xpu_driver") return EventCategory::call;
      if (name == "gpu_memcpy") return EventCategory::memory_copy;
      if (name == "gpu_memset") return EventCategory::memory_set;
      if (name == "cuda_event") return EventCategory::sync;
      break;
    case 11:
      if (name == "cuda_driver" || name == "xpu_runtime") return EventCategory::call;
      break;
    case 12:
      if (name == "cuda_runtime" || name == "mtia_runtime" || name == "glow_runtime")
        return EventCategory::call;
      break;
    case 15:
      if (name == "user_annotation") return EventCategory::annotation;
      if (name == "mtia_ccp_events" || name == "collective_comm") return EventCategory::accelerator;
      break;
    case 18:
      if (name == "privateuse1_driver") return EventCategory::call;
      break;
    case 19:
      if (name == "gpu_user_annotation") return EventCategory::device_annotation;
      if (name == "privateuse1_runtime") return EventCategory::call;
      break;
    default:
      break;
  }
  return EventCategory::other;
}

DeviceKind device_kind(EventCategory category) {
  constexpr DeviceKind kKinds[] = {DeviceKind::kernel, DeviceKind::memory_copy,
                                   DeviceKind::memory_set, DeviceKind::sync,
                                   DeviceKind::accelerator};
  static_assert(std::size(kKinds) == static_cast<std::size_t>(DeviceKind::count_));
  return kKinds[static_cast<std::size_t>(category) -
                static_cast<std::size_t>(EventCategory::kernel)];
}

ActivityClass activity_class(std::string_view name) {
  name = name.substr(0, name.find('\n'));
  if (name_begins_with_one(name, kCommunicationFirst) ||
      name_holds_one(name, kCommunicationInside)) {
    return ActivityClass::communication;
  }
  if (name_begins_with_one(name, kMemoryFirst)) return ActivityClass::memory;
  if (name_begins_with_one(name, kOtherFirst) || name_holds_one(name, kOtherInside) ||
      is_cuda_launch(name)) {
    return ActivityClass::other;
  }
  return ActivityClass::computation;
}

bool is_launch(std::string_view call) {
  return name_holds_one(call, kLaunchInside);
}

// cudaStreamSynchronize, cuCtxSynchronize, hipEventSynchronize, zeCommandQueueSynchronize
bool is_blocking(std::string_view call) {
  return name_holds(call, "Synchronize");
}

}  // namespace trainwatch
