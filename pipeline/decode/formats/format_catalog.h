// SPDX-License-Identifier: Apache-2.0
// The table of all formats, in the order in which they are asked. Listing is deliberate: a linker
// drops self-registering objects of a static library that nobody names.
#pragma once

#include "pipeline/decode/format.h"

namespace trainwatch {

// `declared` outlives the table; null: the presets.
FormatTable format_catalog(const DeclaredFormats* declared = nullptr);

// Rows that are also used by themselves, where timelines are merged.
extern const Format system_metrics_format;
extern const Format tensorflow_trace_format;
extern const Format chrome_trace_format;
extern const Format timeline_format;

}  // namespace trainwatch
