// SPDX-License-Identifier: Apache-2.0
// The events of a span of time as one document of Chrome's trace format: what `/api/v1/timeline`
// and the trace of an alert are made of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/timeline/event_order.h"
#include "pipeline/timeline/trace_copy.h"
#include "pipeline/timeline/window_reader.h"

namespace trainwatch {

// An alert, as a slice from its beginning to its end.
struct AlertMark {
  std::string rule;
  std::string state;  // "firing" or "resolved"
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::string json;  // the whole alert
};

struct WindowTrace {
  TimeWindow window;
  std::vector<FileWindow> files;  // read in this order
  std::vector<AlertMark> alerts;
  std::uint64_t most_bytes = std::uint64_t{256} << 20U;  // to read
  std::size_t memory = EventOrder::kMemory;              // for sorting
};

// Writes the document, with what was left out in its member "leftOut". Events that do not fit into
// memory wait in `runs`; without it they are left out. Fails if `runs` does.
Status write_window_trace(FileSystem& files, const WindowTrace& trace, RunStore* runs,
                          TextSink& out);

}  // namespace trainwatch
