// SPDX-License-Identifier: Apache-2.0
// Responses to requests for traces: reads files, sorts, writes. On the threads of requests
// (FileWorker): timelines on one, everything else on another.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "daemon/app/incident_traces.h"
#include "daemon/app/trace_request.h"
#include "daemon/app/trace_storage.h"

namespace trainwatch {

class TraceResponder {
 public:
  // Events that do not fit into memory wait in nameless files in `directory`.
  TraceResponder(IncidentTraces incidents, std::string directory)
      : incidents_(std::move(incidents)), directory_(std::move(directory)) {}

  // The timeline of a span, sent from `document`, which is empty yet.
  HttpResponse timeline(RequestFiles& files, const TraceRequest& request,
                        std::shared_ptr<StoredDocument> document) const;
  // The trace of an alert, or what ran in a span.
  HttpResponse respond(RequestFiles& files, const TraceRequest& request);

 private:
  HttpResponse annotations(RequestFiles& files, const TraceRequest& request) const;
  HttpResponse alert_trace(RequestFiles& files, const TraceRequest& request);
  // The trace, compressed, or why it cannot be made.
  std::variant<std::string, HttpResponse> make_alert_trace(RequestFiles& files,
                                                           const TraceRequest& request);

  IncidentTraces incidents_;
  std::string directory_;
};

}  // namespace trainwatch
