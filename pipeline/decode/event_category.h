// What the category of a profiler's event says about it: the names of every era and device.
#pragma once

#include <cstdint>
#include <string_view>

#include "trainwatch/cycle_trace.h"

namespace trainwatch {

enum class EventCategory : std::uint8_t {
  other,              // nobody reads these
  host,               // operators; in 2021 annotations too
  annotation,         // of the host
  device_annotation,  // gpu_user_annotation
  call,               // of the runtime or the driver
  kernel,             // these and the rest: work on a device
  memory_copy,
  memory_set,
  sync,
  accelerator,
};

// Of "cat" as it stands, quotes included.
EventCategory event_category(std::string_view token);

inline bool is_device_work(EventCategory category) {
  return category >= EventCategory::kernel;
}

// Whether a CycleTrace has rows of it.
inline bool is_for_cycles(EventCategory category) {
  return category >= EventCategory::annotation;
}

// Only of device work.
DeviceKind device_kind(EventCategory category);

}  // namespace trainwatch
