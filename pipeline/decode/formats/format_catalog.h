// The table of all formats, in the order in which they are asked. Listing is deliberate: a linker
// drops self-registering objects of a static library that nobody names.
#pragma once

#include "pipeline/decode/format.h"

namespace trainwatch {

FormatTable format_catalog();

// The one row that is also used by itself, where traces are copied.
extern const Format chrome_trace_format;

}  // namespace trainwatch
