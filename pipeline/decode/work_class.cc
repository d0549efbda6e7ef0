#include "pipeline/decode/work_class.h"

#include <algorithm>
#include <iterator>
#include <span>

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

// What calls of CUDA, HIP, Level Zero, SYCL and MTIA are called that start work on a device.
constexpr std::string_view kLaunchInside[] = {"Launch", "Memcpy",  "Memset",
                                              "Memory", "Enqueue", "runFunction"};

bool begins_with_one(std::string_view name, Texts texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [name](std::string_view text) { return name.starts_with(text); });
}

bool holds(std::string_view name, std::string_view text) {
  return name.find(text) != std::string_view::npos;
}

bool holds_one(std::string_view name, Texts texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [name](std::string_view text) { return holds(name, text); });
}

bool is_cuda_launch(std::string_view name) {
  return name.starts_with("cuda") && holds(name.substr(4), "LaunchKernel");
}

}  // namespace

WorkClass work_class(std::string_view name) {
  name = name.substr(0, name.find('\n'));
  if (begins_with_one(name, kCommunicationFirst) || holds_one(name, kCommunicationInside)) {
    return WorkClass::communication;
  }
  if (begins_with_one(name, kMemoryFirst)) return WorkClass::memory;
  if (begins_with_one(name, kOtherFirst) || holds_one(name, kOtherInside) || is_cuda_launch(name)) {
    return WorkClass::other;
  }
  return WorkClass::computation;
}

bool is_launch(std::string_view call) {
  return holds_one(call, kLaunchInside);
}

// cudaStreamSynchronize, cuCtxSynchronize, hipEventSynchronize, zeCommandQueueSynchronize
bool is_blocking(std::string_view call) {
  return holds(call, "Synchronize");
}

}  // namespace trainwatch
