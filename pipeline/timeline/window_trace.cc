// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/window_trace.h"

#include "pipeline/timeline/timeline_writer.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

void mark(const AlertMark& alert, TimeWindow window, TrackTable& tracks, EventOrder& order) {
  if (!window.touches(alert.start_ns, alert.end_ns)) return;
  JsonWriter name;
  name.value(alert.rule);
  const std::string rest = R"(, "cat": "alert", "args": )" + alert.json;
  TimelineEvent slice;
  slice.start_ns = alert.start_ns;
  slice.duration_ns = alert.end_ns - alert.start_ns;
  slice.track = tracks.thread(tracks.phase("Alerts"), "", name.text());
  slice.name = name.text();
  slice.rest = rest;
  order.event(slice);
}

std::string left_out(const WindowReader::Losses& losses, std::uint64_t events) {
  JsonWriter json;
  json.begin_object()
      .field("filesGone", losses.files_gone)
      .field("filesBeyondTheBytesThatAreRead", losses.files_too_far)
      .field("filesBroken", losses.files_broken)
      .field("records", losses.records)
      .field("eventsBeyondMemory", events)
      .end_object();
  return R"("leftOut": )" + json.take();
}

}  // namespace

Status write_window_trace(FileSystem& files, const WindowTrace& trace, RunStore* runs,
                          TextSink& out) {
  TrackTable tracks;
  EventOrder order(tracks, runs, trace.memory);
  for (const AlertMark& alert : trace.alerts) mark(alert, trace.window, tracks, order);
  WindowReader reader(files, tracks, order, trace.window, trace.most_bytes);
  reader.read(trace.files);
  tracks.number();
  TraceWriter document(out);
  document.begin(TraceWriter::Root::object);
  document.member(R"("displayTimeUnit": "ms")");
  TimelineWriter writer(tracks, document);
  const Status drained = order.drain(writer);
  document.member(left_out(reader.losses(), order.left_out()));
  document.finish();
  return drained;
}

}  // namespace trainwatch
