// SPDX-License-Identifier: Apache-2.0
#include "commands/timeline/merged_timeline.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>
#include <unordered_set>
#include <utility>

#include "daemon/app/watch_roots.h"
#include "pipeline/decode/formats/format_catalog.h"
#include "pipeline/decode/path_metadata.h"
#include "pipeline/engine/alert_json.h"
#include "pipeline/engine/engine.h"
#include "pipeline/tail/lane.h"
#include "pipeline/tail/paths.h"
#include "pipeline/timeline/file_contents.h"
#include "pipeline/timeline/low_gpu_filter.h"
#include "pipeline/timeline/sample_reader.h"
#include "pipeline/timeline/timeline_writer.h"
#include "pipeline/timeline/trace_pass.h"
#include "pipeline/timeline/window_reader.h"
#include "pipeline/timeline/writer_name.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

namespace fs = std::filesystem;

// Takes nothing: of this pass only the steps are wanted.
class NoEvents final : public TimelineSink {
 public:
  void event(const TimelineEvent&) override {}
};

std::int64_t from_micros(std::int64_t us) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 1000;
  return std::clamp(us, -kMost, kMost) * 1000;
}

bool has_suffix(const std::string& path, const std::vector<std::string>& suffixes) {
  if (suffixes.empty()) return true;
  const std::string base = place_of(path).order.base;  // without .gz and .tmp
  return std::ranges::any_of(suffixes, [&](const std::string& suffix) {
    return path.ends_with(suffix) || base.ends_with(suffix);
  });
}

std::string directory_for_runs(const std::string& output) {
  std::error_code failure;
  if (output == "-" || !fs::is_regular_file(fs::status(output, failure)))
    return fs::temp_directory_path(failure).string();
  return fs::absolute(output, failure).parent_path().string();
}

// Alerts as instants: when each began to fire, and when it was resolved.
class AlertInstants {
 public:
  AlertInstants(TrackTable& tracks, TimeWindow window, TimelineSink& sink)
      : tracks_(tracks), window_(window), sink_(sink) {}

  void add(const Alert& alert) {
    if (alert.is_part()) return;
    const bool firing = alert.state == Alert::State::firing;
    if (firing && !seen_.insert(alert.id).second) return;
    const std::int64_t at_ns = to_ns(firing ? alert.started_at : alert.ended_at);
    if (!window_.touches(at_ns, at_ns)) return;
    JsonWriter name;
    name.value(alert.rule + (firing ? "" : " resolved"));
    const std::string rest = R"(, "s": "g", "args": )" + to_json(alert);
    TimelineEvent event;
    event.start_ns = at_ns;
    event.track = tracks_.thread(tracks_.phase("Alerts"), "", '"' + alert.rule + '"');
    event.type = 'i';
    event.name = name.text();
    event.rest = rest;
    sink_.event(event);
  }

 private:
  TrackTable& tracks_;
  TimeWindow window_;
  TimelineSink& sink_;
  std::unordered_set<std::string> seen_;  // ids
};

}  // namespace

MergedTimeline::MergedTimeline(FileSystem& files, const TimelineOptions& options,
                               const OfflineRun& run, std::ostream& err)
    : files_(files),
      options_(options),
      run_(run),
      err_(err),
      roots_(replay_input(options.paths, run.config()).roots) {
  interner_.set_limits(replay_input(options.paths, run.config()).names);
}

Status MergedTimeline::write(std::vector<TraceFile> found, TraceOutput& output) {
  std::erase_if(
      found, [this](const TraceFile& file) { return !has_suffix(file.path, options_.suffixes); });
  if (const Status looked = look_at(found); !looked) return looked;
  if (inputs_.empty()) {
    return Error{"no timeline, trace or system metrics found in " + std::to_string(found.size()) +
                 " files"};
  }
  name_inputs();
  choose_windows();
  SpillFile runs(directory_for_runs(options_.output));
  EventOrder order(tracks_, &runs);
  if (options_.alerts) judge(order);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (const Status done = read(inputs_[i], i, order); !done) return done;
    if (!output.status()) return output.status();
  }
  return finish(order, output);
}

MergedTimeline::Kind MergedTimeline::kind_of(const std::string& path, const Format& format) {
  if (&format == &system_metrics_format) return Kind::metrics;
  if (&format == &chrome_trace_format) return Kind::profiler;
  if (&format == &tensorflow_trace_format) return Kind::tensorflow;
  constexpr std::array kParts = {std::pair{"pythontimeline.json", Kind::python},
                                 std::pair{"model_timeline.json", Kind::model},
                                 std::pair{"horovod_timeline.json", Kind::horovod},
                                 std::pair{"smdataparallel_timeline.json", Kind::smdataparallel}};
  for (const auto& [part, kind] : kParts) {
    if (path.find(part) != std::string::npos) return kind;
  }
  return Kind::timeline;
}

std::string_view MergedTimeline::name_of(Kind kind) {
  constexpr std::array<std::string_view, kKinds> kNames = {
      "python timelines",         "model timelines", "TensorFlow traces", "Horovod timelines",
      "smdataparallel timelines", "timelines",       "profiler traces",   "system metrics"};
  return kNames[static_cast<std::size_t>(kind)];
}

Status MergedTimeline::look_at(const std::vector<TraceFile>& found) {
  if (options_.unit == TimelineOptions::Unit::step) {
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      steps_[kind].emplace(options_.start, options_.end);
  }
  for (const TraceFile& file : found) {
    if (const Status looked = look_at(file); !looked) return looked;
  }
  return success();
}

Status MergedTimeline::look_at(const TraceFile& file) {
  TracePass pass(file.path, file.rank, nullptr);
  const auto feed = [&pass](std::string_view bytes) { return pass.feed(bytes); };
  if (const Status read = read_file(files_, file.path, feed); !read) return read;
  pass.finish();
  if (pass.format().make == nullptr) return success();
  Input input;
  input.file = file;
  input.format = &pass.format();
  input.kind = kind_of(file.path, pass.format());
  if (const WatchRoot* const root = root_of(file.path, roots_))
    input.job = job_of(file.path, root->path, root->job);
  if (pass.cycle()) {
    traces_.push_back({file, pass.subject(), pass.cycle()->base_ns, {}});
    input.base_ns = pass.cycle()->base_ns;
    if (auto& steps = steps_[static_cast<std::size_t>(Kind::profiler)]) {
      for (const StepRow& step : pass.cycle()->steps) steps->saw(step.number, step.start_ns);
    }
  }
  if (input.kind == Kind::tensorflow) input.base_ns = tensorflow_start(file.path);
  inputs_.push_back(std::move(input));
  return find_steps(inputs_.back());
}

Status MergedTimeline::find_steps(const Input& input) {
  auto& steps = steps_[static_cast<std::size_t>(input.kind)];
  if (!steps || input.kind == Kind::profiler || input.kind == Kind::metrics) return success();
  NoEvents nothing;
  TrackTable unused;
  PhaseReader reader(unused, nothing, TimeWindow{}, {}, input.base_ns,
                     [&steps](std::int64_t step, std::int64_t at_ns) { steps->saw(step, at_ns); });
  FileContents contents(input.file.path, [&reader](std::string_view piece) {
    reader.feed(piece);
    return true;
  });
  const Status read = read_file(files_, input.file.path, [&contents](std::string_view bytes) {
    return contents.feed(bytes);
  });
  contents.finish();
  reader.finish();
  return read;
}

// Threads and groups say of which rank they are, and of which job if there are several.
void MergedTimeline::name_inputs() {
  std::set<std::string> jobs;
  for (const Input& input : inputs_) jobs.insert(input.job);
  const auto with_job = [&](const Input& input, const std::string& name) {
    return jobs.size() < 2 || input.job.empty() ? name : input.job + '/' + name;
  };
  label(traces_);
  std::map<std::string, std::string> labels;  // by path
  for (const ProfilerTrace& trace : traces_) labels[trace.file.path] = trace.label;
  for (Input& input : inputs_) {
    const std::string& path = input.file.path;
    if (jobs.size() < 2) input.job.clear();
    const bool rank_is_known = input.file.rank != kNoRank;
    const std::string rank = "rank " + std::to_string(input.file.rank);
    const std::string writer =
        input.kind == Kind::tensorflow ? tensorflow_node(path) : timeline_writer_name(path);
    input.writer = with_job(input, rank_is_known ? rank : writer);
  }
  std::vector<Input*> profiler;
  for (Input& input : inputs_) {
    if (input.kind != Kind::profiler) continue;
    if (!labels.contains(input.file.path))
      labels[input.file.path] = std::string(base_name(input.file.path));
    profiler.push_back(&input);
  }
  // Groups are shown by rank: in the order of the labelled traces.
  for (const ProfilerTrace& trace : traces_) {
    const auto input = std::ranges::find_if(
        profiler, [&](const Input* one) { return one->file.path == trace.file.path; });
    (*input)->group = tracks_.group(with_job(**input, trace.label));
  }
  for (Input* const input : profiler) {
    if (input->group == 0) input->group = tracks_.group(with_job(*input, labels[input->file.path]));
  }
}

void MergedTimeline::choose_windows() {
  if (options_.unit == TimelineOptions::Unit::time) {
    if (options_.start) widest_.from_ns = from_micros(*options_.start);
    if (options_.end) widest_.to_ns = from_micros(*options_.end);
    windows_.fill(widest_);
    return;
  }
  std::optional<TimeWindow> widest;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    windows_[kind] = steps_[kind]->window();
    if (!windows_[kind]) continue;
    if (!widest) widest = windows_[kind];
    widest->from_ns = std::min(widest->from_ns, windows_[kind]->from_ns);
    widest->to_ns = std::max(widest->to_ns, windows_[kind]->to_ns);
  }
  constexpr TimeWindow kNothing{std::numeric_limits<std::int64_t>::max(),
                                std::numeric_limits<std::int64_t>::min()};
  widest_ = widest.value_or(kNothing);
  windows_[static_cast<std::size_t>(Kind::metrics)] = widest_;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const auto is_of_it = [kind](const Input& input) {
      return static_cast<std::size_t>(input.kind) == kind;
    };
    if (windows_[kind] || std::ranges::none_of(inputs_, is_of_it)) continue;
    err_ << name_of(static_cast<Kind>(kind))
         << " have no such steps and are left out; --unit=time shows them\n";
  }
}

// The stamp of a timeline is the latest end of what its writer has written so far.
bool MergedTimeline::is_over_before(const Input& input, const TimeWindow& window) const {
  if (input.format != &timeline_format || !is_named_as_ours(input.file.path)) return false;
  const std::int64_t stamp_ns = place_of(input.file.path).order.stamp_ns;
  constexpr std::int64_t kMarginNs = 60'000'000'000;
  return stamp_ns != ReadOrder::kNoStamp && saturating_add(stamp_ns, kMarginNs) < window.from_ns;
}

std::unique_ptr<EventReader> MergedTimeline::reader_of(const Input& input, std::size_t number,
                                                       TimelineSink& sink) {
  const TimeWindow window = *windows_[static_cast<std::size_t>(input.kind)];
  if (input.kind == Kind::metrics) {
    return std::make_unique<SampleReader>(interner_, tracks_, sink, window, input.file.path,
                                          input.job);
  }
  if (input.kind == Kind::profiler) {
    return std::make_unique<ProfilerReader>(tracks_, sink, window, input.group, number,
                                            input.base_ns);
  }
  return std::make_unique<PhaseReader>(tracks_, sink, window, input.writer, input.base_ns,
                                       PhaseReader::TakeStep{});
}

Status MergedTimeline::read(const Input& input, std::size_t number, EventOrder& order) {
  const auto& window = windows_[static_cast<std::size_t>(input.kind)];
  if (!window || is_over_before(input, *window)) return success();
  const auto reader = reader_of(input, number, order);
  FileContents contents(input.file.path, [&](std::string_view piece) {
    reader->feed(piece);
    return true;
  });
  const Status read = read_file(files_, input.file.path, [&](std::string_view bytes) {
    return contents.feed(bytes) && order.status().ok();
  });
  if (!read) return read;
  contents.finish();
  reader->finish();
  if (reader->left_out() > 0)
    err_ << input.file.path << ": " << reader->left_out() << " broken records left out\n";
  if (contents.cut_short())
    err_ << input.file.path << ": compressed data is damaged or truncated\n";
  return order.status();
}

void MergedTimeline::judge(EventOrder& order) {
  Engine engine(run_.config().enabled_rules());
  AlertInstants instants(tracks_, widest_, order);
  run_.read_into(engine, [&] {
    for (const Alert& alert : engine.take_emitted()) instants.add(alert);
  });
}

Status MergedTimeline::finish(EventOrder& order, TraceOutput& output) {
  std::optional<TrackId> marks;
  if (options_.low_gpu) {
    marks = LowGpuFilter::marks_in(tracks_);
    tracks_.saw(*marks, std::numeric_limits<std::int64_t>::max());
  }
  tracks_.number();
  TraceWriter document(output);
  document.begin(TraceWriter::Root::array);
  TimelineWriter writer(tracks_, document);
  Status drained = success();
  if (marks) {
    LowGpuFilter filter(tracks_, *marks, writer);
    drained = order.drain(filter);
    filter.finish();
  } else {
    drained = order.drain(writer);
  }
  document.finish();
  return drained;
}

std::int64_t MergedTimeline::tensorflow_start(const std::string& path) {
  if (const auto start = tensorflow_start_ns(files_, path)) return *start;
  err_ << path << ": no .metadata file says when it began; its times count from 1970\n";
  return 0;
}

}  // namespace trainwatch
