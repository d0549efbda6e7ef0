// SPDX-License-Identifier: Apache-2.0
// What a profiler's event is, from its category and its name, in every format version.
#pragma once

#include <cstdint>
#include <string_view>

#include "trainwatch/cycle_trace.h"

namespace trainwatch {

enum class EventCategory : std::uint8_t {
  other,              // not read
  host,               // operators; in 2021 annotations too
  annotation,         // of the host
  device_annotation,  // gpu_user_annotation
  call,               // of the runtime or the driver
  kernel,             // from here on: device activity
  memory_copy,
  memory_set,
  sync,
  accelerator,
};

// `token` is the value of "cat", quotes included.
EventCategory event_category(std::string_view token);

inline bool is_device_activity(EventCategory category) {
  return category >= EventCategory::kernel;
}

// Whether a CycleTrace has rows of this category.
inline bool is_for_cycles(EventCategory category) {
  return category >= EventCategory::annotation;
}

// Only for device activity.
DeviceKind device_kind(EventCategory category);

// What device activity is for, by the first line of its name. HTA's patterns in HTA's order: the
// first match decides, so that "Memcpy" inside a kernel's name makes it `other`, and any name that
// begins with "hip" is communication.
ActivityClass activity_class(std::string_view name);

// Whether a runtime or driver call of this name launches device activity.
bool is_launch(std::string_view call);
// Whether it returns only when the device has finished.
bool is_blocking(std::string_view call);

}  // namespace trainwatch
