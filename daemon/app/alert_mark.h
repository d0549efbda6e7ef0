// SPDX-License-Identifier: Apache-2.0
// A published alert as a slice of a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/state/state_store.h"
#include "pipeline/timeline/window_trace.h"

namespace trainwatch {

// nullopt: its text is no alert.
std::optional<AlertMark> alert_mark(const PublishedAlert& alert);

// The latest version of each, without parts of incidents.
std::vector<AlertMark> alert_marks(const PublishedAlerts& alerts);

// What a trace of this alert shows: from kBefore its beginning, with what explains it, to kAfter.
TimeWindow incident_window(const AlertMark& alert);

}  // namespace trainwatch
