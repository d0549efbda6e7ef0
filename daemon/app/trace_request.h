// SPDX-License-Identifier: Apache-2.0
// What a request for a trace is about, as the engine thread knows it: which span of time, which
// files have its events, which alerts belong to it.
#pragma once

#include <optional>
#include <vector>

#include "daemon/net/trace_query.h"
#include "pipeline/engine/engine.h"
#include "pipeline/engine/ingest.h"
#include "pipeline/state/state_store.h"
#include "pipeline/timeline/window_trace.h"

namespace trainwatch {

struct TraceRequest {
  TraceQuery query;
  int refused = 0;  // a status
  TimeWindow window;
  std::vector<FileWindow> files;   // by job, rank and path
  std::vector<AlertMark> alerts;   // the latest ones
  std::optional<AlertMark> about;  // of TraceView::alert, if it is stored
  bool complete = true;            // all of the window has been read
  bool keep = false;               // the trace of the alert

  // On the engine thread.
  static TraceRequest made(TraceQuery query, const Engine& engine, const Ingest& ingest,
                           StateStore& store);

 private:
  void choose_window(const Engine& engine, StateStore& store);
  void find_files(const Ingest& ingest);
};

}  // namespace trainwatch
