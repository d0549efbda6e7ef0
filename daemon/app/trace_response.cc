// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/trace_response.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "pipeline/decode/formats/format_catalog.h"
#include "pipeline/decode/path_metadata.h"
#include "pipeline/timeline/span_totals.h"
#include "pipeline/timeline/step_window.h"
#include "pipeline/timeline/window_trace.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMemory = std::size_t{4} << 20U;  // for sorting events
constexpr std::uint64_t kMostRead = std::uint64_t{256} << 20U;
constexpr std::uint64_t kMostReadForTimeline = std::uint64_t{512} << 20U;

// From the configuration or the trace, else from the name of the file.
std::int32_t rank_of(const FileWindow& file) {
  return file.rank != kNoRank ? file.rank : timeline_path_metadata(file.path).rank;
}

HttpResponse trace_response(bool gzip, const std::string& name) {
  HttpResponse response;
  response.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + name + "\"");
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (gzip) response.headers.emplace_back("Content-Encoding", "gzip");
  return response;
}

HttpResponse too_long() {
  return error_response(413,
                        "the trace is too long; choose a shorter span of time, or use "
                        "'trainwatch timeline', which has no limit");
}

// nullopt: the document is complete.
std::optional<HttpResponse> refusal_of(const Status& written, Document& document) {
  if (!written) return error_response(503, written.error().message);
  switch (document.finish()) {
    case Document::End::complete:
      return std::nullopt;
    case Document::End::too_long:
      return too_long();
    case Document::End::failed:
      break;
  }
  return error_response(503,
                        "the trace cannot be stored: the disk is full, or others wait to be sent");
}

// From the first event of step `start` to the first event of step `end`, according to the
// timelines; without timelines, the window of the request, which covers at least that.
TimeWindow exact_step_window(RequestFiles& files, const TraceRequest& request) {
  struct Nowhere final : TimelineSink {
    void event(const TimelineEvent&) override {}
  } nowhere;
  StepWindow steps(request.query.start, request.query.end);
  TrackTable tracks;
  WindowReader reader(
      files, tracks, nowhere, request.window, kMostReadForTimeline, {},
      [&steps](std::int64_t step, std::int64_t start_ns) { steps.saw(step, start_ns); });
  std::vector<FileWindow> timelines = request.files;
  std::erase_if(timelines,
                [](const FileWindow& file) { return file.format != timeline_format.name; });
  reader.read(timelines);
  return steps.window().value_or(request.window);
}

}  // namespace

HttpResponse TraceResponder::timeline(RequestFiles& files, const TraceRequest& request,
                                      std::shared_ptr<StoredDocument> document) const {
  if (request.refused != 0) return error_response(request.refused);
  const bool of_steps = request.query.unit == TraceQuery::Unit::step;
  const TimeWindow window = of_steps ? exact_step_window(files, request) : request.window;
  RequestRuns runs(directory_, files);
  const Status written = write_window_trace(
      files, {window, request.files, request.alerts, kMostReadForTimeline, kMemory}, &runs,
      *document);
  if (auto refusal = refusal_of(written, *document)) return std::move(*refusal);
  HttpResponse response = trace_response(request.query.gzip, "trainwatch-timeline.json");
  response.stored_body = std::move(document);
  return response;
}

HttpResponse TraceResponder::respond(RequestFiles& files, const TraceRequest& request) {
  if (request.refused != 0) return error_response(request.refused);
  return request.query.view == TraceView::alert ? alert_trace(files, request)
                                                : annotations(files, request);
}

HttpResponse TraceResponder::annotations(RequestFiles& files, const TraceRequest& request) const {
  TrackTable tracks;
  SpanTotals totals(tracks, request.window);
  WindowReader reader(files, tracks, totals, request.window, kMostRead,
                      [&totals](const FileWindow& file) { totals.begin(rank_of(file)); });
  reader.read(request.files);
  HttpResponse response;
  response.body = totals.json() + "\n";
  return response;
}

HttpResponse TraceResponder::alert_trace(RequestFiles& files, const TraceRequest& request) {
  const TraceQuery& query = request.query;
  std::optional<std::string> trace = incidents_.read(query.alert);
  if (!trace) {
    auto made = make_alert_trace(files, request);
    if (auto* const refusal = std::get_if<HttpResponse>(&made)) return std::move(*refusal);
    trace = std::get<std::string>(std::move(made));
  }
  if (!query.gzip) trace = inflated(*trace);
  if (!trace) return too_long();
  HttpResponse response = trace_response(query.gzip, "trainwatch-" + query.alert + ".json");
  response.body = std::move(*trace);
  return response;
}

std::variant<std::string, HttpResponse> TraceResponder::make_alert_trace(
    RequestFiles& files, const TraceRequest& request) {
  if (!request.about) return error_response(404);
  MemoryDocument document(true);
  RequestRuns runs(directory_, files);
  std::vector<AlertMark> alerts = request.alerts;
  const bool marked = std::ranges::any_of(
      alerts, [&](const AlertMark& alert) { return alert.json == request.about->json; });
  if (!marked) alerts.push_back(*request.about);
  const Status written = write_window_trace(
      files, {request.window, request.files, std::move(alerts), kMostRead, kMemory}, &runs,
      document);
  if (auto refusal = refusal_of(written, document)) return std::move(*refusal);
  std::string text = document.take();
  if (request.keep) {
    if (const Status stored = incidents_.write(request.query.alert, text); !stored)
      return error_response(503, stored.error().message);
  }
  return text;
}

}  // namespace trainwatch
