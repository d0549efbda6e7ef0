#include "pipeline/decode/event_category.h"

#include <iterator>

#include "pipeline/decode/json_text.h"

namespace trainwatch {

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

}  // namespace trainwatch
