// SPDX-License-Identifier: Apache-2.0
#include "commands/timeline/counter_timeline.h"

#include <algorithm>
#include <ostream>

#include "commands/report/html_writer.h"
#include "pipeline/timeline/counter_events.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {

Status CounterTimeline::write(const std::vector<TraceFile>& found, TraceOutput& output) {
  const Error none{"no PyTorch profiler trace found"};
  if (found.empty()) return none;
  if (found.size() == 1) return copy_one(found.front(), output);
  auto traces = look_at(found);
  if (!traces) return traces.error();
  if (traces->empty()) return none;
  if (traces->size() == 1) return copy_one(traces->front().file, output);
  return copy_all(std::move(*traces), output);
}

// Rank and base of a trace may be in its last bytes, so several traces are each read twice.
Result<std::vector<ProfilerTrace>> CounterTimeline::look_at(const std::vector<TraceFile>& found) {
  std::vector<ProfilerTrace> traces;
  for (const TraceFile& file : found) {
    TracePass pass(file.path, file.rank, nullptr);
    const Status read =
        read_file(files_, file.path, [&pass](std::string_view bytes) { return pass.feed(bytes); });
    if (!read) return read.error();
    pass.finish();
    if (pass.cycle()) traces.push_back({file, pass.subject(), pass.cycle()->base_ns, {}});
  }
  return traces;
}

Result<bool> CounterTimeline::copy(const TraceFile& file, TraceCopy& copy,
                                   const TraceOutput& output) {
  TracePass pass(file.path, file.rank, &copy);
  const Status read = read_file(files_, file.path, [&](std::string_view bytes) {
    return pass.feed(bytes) && output.status().ok();
  });
  if (!read) return read.error();
  pass.finish();
  if (!pass.is_trace()) return false;
  if (pass.cycle()) {
    emit_counters(*pass.cycle(), options_.steps,
                  [&copy](std::string_view event) { copy.add(event); });
  }
  print_losses(file.path, copy, pass);
  return true;
}

void CounterTimeline::print_losses(const std::string& path, const TraceCopy& copy,
                                   const TracePass& pass) {
  if (copy.left_out() > 0) err_ << path << ": " << copy.left_out() << " broken records left out\n";
  if (pass.cut_short()) err_ << path << ": compressed data is damaged or truncated\n";
  if (pass.cycle() && pass.cycle()->left_out > 0) {
    err_ << path << ": " << pass.cycle()->left_out << " rows beyond the limit are not counted\n";
  }
}

Status CounterTimeline::copy_one(const TraceFile& file, TraceOutput& output) {
  TraceWriter writer(output);
  TraceCopy copied(writer);
  const auto is_trace = copy(file, copied, output);
  if (!is_trace) return is_trace.error();
  if (!*is_trace) return Error{file.path + ": not a PyTorch profiler trace"};
  writer.finish();
  return success();
}

Status CounterTimeline::copy_all(std::vector<ProfilerTrace> traces, TraceOutput& output) {
  label(traces);
  std::int64_t base_ns = traces.front().base_ns;
  for (const ProfilerTrace& trace : traces) base_ns = std::min(base_ns, trace.base_ns);
  TraceWriter writer(output);
  writer.begin(TraceWriter::Root::object);
  writer.member("\"schemaVersion\": 1");
  writer.member("\"displayTimeUnit\": \"ms\"");
  writer.member("\"baseTimeNanoseconds\": " + std::to_string(base_ns));

  ProcessNumbers processes;
  JsonWriter sources;
  sources.begin_array();
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const ProfilerTrace& trace = traces[i];
    EventMover mover(processes, processes.group(trace.label), i, trace.base_ns - base_ns);
    TraceCopy copied(writer, mover);
    if (const auto done = copy(trace.file, copied, output); !done) return done.error();
    sources.begin_object()
        .field("path", repaired_utf8(trace.file.path))
        .field("processes", trace.label);
    const bool room =
        sources.text().size() + copied.members().size() < TraceWriter::kMostLateBytes / 2;
    if (!room) err_ << trace.file.path << ": the metadata around its events was left out\n";
    sources.key("members").raw(room ? "{" + copied.members() + "}" : "{}").end_object();
  }
  processes.emit_missing([&writer](std::string_view event) { writer.event(event); });
  if (!writer.member("\"traces\": " + sources.end_array().take()))
    err_ << "the list of traces is too long and was left out\n";
  writer.finish();
  return success();
}

}  // namespace trainwatch
