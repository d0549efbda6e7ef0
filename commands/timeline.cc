#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>
#include <tuple>

#include "commands/commands.h"
#include "commands/offline_run.h"
#include "commands/report/html_writer.h"
#include "commands/trace_files.h"
#include "daemon/app/watch_roots.h"
#include "daemon/exit_code.h"
#include "pipeline/tail/posix_file_system.h"
#include "pipeline/timeline/counter_events.h"
#include "pipeline/timeline/trace_pass.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

namespace fs = std::filesystem;

// What is known of a trace before it is copied.
struct KnownTrace {
  TraceFile file;
  Subject subject;
  std::int64_t base_ns = 0;
  std::string label;  // of its processes
};

bool same_file(const std::string& a, const std::string& b) {
  std::error_code failure;
  return fs::equivalent(a, b, failure) && !failure;
}

// All ranks belong to one job, unless two nodes have the same rank.
void label(std::vector<KnownTrace>& traces) {
  std::map<std::int32_t, std::set<std::string>> nodes;
  for (const KnownTrace& trace : traces) nodes[trace.subject.rank].insert(trace.subject.node);
  for (KnownTrace& trace : traces) {
    const std::int32_t rank = trace.subject.rank;
    const std::string& node = trace.subject.node;
    trace.label = rank == kNoRank ? fs::path(trace.file.path).filename().string()
                                  : "rank " + std::to_string(rank);
    if (rank != kNoRank && !node.empty() && nodes[rank].size() > 1) trace.label += " on " + node;
    trace.label = repaired_utf8(trace.label);
  }
  std::stable_sort(traces.begin(), traces.end(), [](const KnownTrace& a, const KnownTrace& b) {
    return std::tie(a.subject.rank, a.subject.node) < std::tie(b.subject.rank, b.subject.node);
  });
}

// Processes the traces of one run of the command. The first failure ends it.
class CounterTimeline {
 public:
  CounterTimeline(FileSystem& files, const TimelineOptions& options, std::ostream& err)
      : files_(files), options_(options), err_(err) {}

  Status write(const std::vector<TraceFile>& found, TraceOutput& output);

 private:
  Result<std::vector<KnownTrace>> look_at(const std::vector<TraceFile>& found);
  Status copy_one(const TraceFile& file, TraceOutput& output);
  Status copy_all(std::vector<KnownTrace> traces, TraceOutput& output);
  // False: it is not a trace, and nothing was copied.
  Result<bool> copy(const TraceFile& file, TraceCopy& copy, const TraceOutput& output);
  void print_losses(const std::string& path, const TraceCopy& copy, const TracePass& pass);

  FileSystem& files_;
  const TimelineOptions& options_;
  std::ostream& err_;
};

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
Result<std::vector<KnownTrace>> CounterTimeline::look_at(const std::vector<TraceFile>& found) {
  std::vector<KnownTrace> traces;
  for (const TraceFile& file : found) {
    TracePass pass(file.path, file.rank, nullptr);
    const Status read = read_file(files_, file.path, [&pass](std::string_view bytes) {
      pass.feed(bytes);
      return !pass.is_other();
    });
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
    pass.feed(bytes);
    return !pass.is_other() && output.status().ok();
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

Status CounterTimeline::copy_all(std::vector<KnownTrace> traces, TraceOutput& output) {
  label(traces);
  std::int64_t base_ns = traces.front().base_ns;
  for (const KnownTrace& trace : traces) base_ns = std::min(base_ns, trace.base_ns);
  TraceWriter writer(output);
  writer.begin(TraceWriter::Root::object);
  writer.member("\"schemaVersion\": 1");
  writer.member("\"displayTimeUnit\": \"ms\"");
  writer.member("\"baseTimeNanoseconds\": " + std::to_string(base_ns));

  ProcessNumbers processes;
  JsonWriter sources;
  sources.begin_array();
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const KnownTrace& trace = traces[i];
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

}  // namespace

int timeline(const TimelineOptions& options, std::ostream& out, std::ostream& err) {
  if (!options.counters) {
    return refuse({"--counters is required: only profiler traces with counters can be written"},
                  exit_code::usage, err);
  }
  const OfflineRun offline_run(options, err);
  if (offline_run.refused()) return *offline_run.refused();
  const bool to_file = options.output != "-";
  for (const std::string& path : options.paths) {
    if (to_file && same_file(path, options.output) && fs::is_regular_file(path))
      return refuse({path + " is both input and output"}, exit_code::usage, err);
  }
  PosixFileSystem files(replay_input(options.paths, offline_run.config()).roots);
  auto found = trace_files(files, options.paths, offline_run.config());
  // The output of an earlier run may be below a path.
  std::erase_if(found, [&](const TraceFile& file) { return same_file(file.path, options.output); });

  if (const Status can = to_file ? can_replace(options.output) : success(); !can)
    return refuse(can.error(), exit_code::failed, err);
  auto output =
      to_file ? TraceOutput::to_file(options.output) : Result(std::make_unique<TraceOutput>(out));
  if (!output) return refuse(output.error(), exit_code::failed, err);
  const Status made = CounterTimeline(files, options, err).write(found, **output);
  if (!made) return refuse(made.error(), exit_code::failed, err);
  const Status written = (*output)->finish();
  return written ? exit_code::done : refuse(written.error(), exit_code::failed, err);
}

}  // namespace trainwatch
