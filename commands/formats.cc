// SPDX-License-Identifier: Apache-2.0
// Reads each file as a replay would, with nothing behind the decoders, and says what came of it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "commands/offline_run.h"
#include "daemon/app/watch_roots.h"
#include "daemon/exit_code.h"
#include "pipeline/decode/declared/declared_formats.h"
#include "pipeline/decode/file_decoder.h"
#include "pipeline/decode/flight_recorder/flight_dump.h"
#include "pipeline/decode/formats/format_catalog.h"
#include "pipeline/decode/path_metadata.h"
#include "pipeline/engine/log_probe.h"
#include "pipeline/tail/log_search.h"
#include "pipeline/tail/posix_file_system.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/run_note.h"

namespace trainwatch {
namespace {

constexpr std::size_t kChunk = std::size_t{256} << 10U;
constexpr std::size_t kMostShown = 16;  // scalars of the first record

class RejectCounter final : public Diagnostics {
 public:
  void reject(FileId, RejectReason reason, std::string_view) override {
    ++counts[static_cast<std::size_t>(reason)];
  }
  std::uint64_t all() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts) sum += count;
    return sum;
  }
  std::array<std::uint64_t, static_cast<std::size_t>(RejectReason::count_)> counts{};
};

// Counts what decoders report beside their events.
class NoteCounter final : public RunNoteSink, public DumpSink {
 public:
  // A line may be reported twice, the second time with a better time.
  SourceNote add(RunNote note) override {
    const bool again = note.end && !ends_.insert(note.end->text).second;
    const bool of_gpu = note.end && note.end->of_machine && note.end->what == EndClass::gpu_error;
    if (note.xid) {
      ++gpu_reports;
    } else if (!again && !of_gpu) {
      ++notes;
    }
    return {.at = note.at, .kind = SourceNote::Kind::run_note, .subject = note.subject};
  }
  void dump(const std::string&, RankDump) override {}
  void watchdog(const std::string&, WatchdogLine) override { ++collectives; }

  std::uint64_t notes = 0;
  std::uint64_t gpu_reports = 0;
  std::uint64_t collectives = 0;

 private:
  std::set<std::string> ends_;
};

struct FileReport {
  std::string path;
  std::string format;
  std::string declared;
  std::string why;
  std::string skipped;  // why nothing is read; empty: something is
  std::uint64_t records = 0;
  std::uint64_t spans = 0;
  std::uint64_t samples = 0;
  std::uint64_t scalars = 0;
  std::uint64_t notes = 0;        // about how the run began, paused or ended
  std::uint64_t collectives = 0;  // lines of NCCL's watchdog
  std::uint64_t gpu_reports = 0;  // of the kernel's log
  std::uint64_t rejects = 0;
  std::vector<Scalar> first;  // of the first record
};

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

std::string_view kind_name(DeclaredKind kind) {
  constexpr std::string_view kNames[] = {"regex", "json", "csv"};
  return kNames[static_cast<std::size_t>(kind)];
}

// The built-in format that reads files of a declaration.
std::string_view reader_of(DeclaredKind kind) {
  constexpr std::string_view kNames[] = {"console", "json_lines", "csv"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string probe_of(const FormatDeclaration& format) {
  switch (format.kind) {
    case DeclaredKind::regex:
      return "a line with '" + format.has.front() + "'" +
             (format.has.size() > 1 ? " or another text" : "") + " that matches /" + format.line +
             "/";
    case DeclaredKind::json:
      return "a line with the members " + joined(format.has);
    case DeclaredKind::csv:
      return "a header with the columns " + joined(format.has);
  }
  return {};
}

std::string figure(double value) {
  std::ostringstream text;
  text << std::setprecision(6) << value;
  return text.str();
}

class FormatReporter {
 public:
  FormatReporter(const IngestOptions& input, std::ostream& err)
      : input_(input), formats_(DeclaredFormats::or_presets(input.declared.get())), err_(err) {
    interner_.set_limits(input.names);
  }

  // nullopt: it cannot be read, which was said.
  std::optional<FileReport> read(const std::string& path);
  const Interner& interner() const { return interner_; }

 private:
  void count(const EventBatch& batch, FileReport& report) const;
  void explain(FileReport& report) const;
  static void explain_builtin(FileReport& report);

  const IngestOptions& input_;
  const DeclaredFormats& formats_;
  std::ostream& err_;
  Interner interner_;
};

std::optional<FileReport> FormatReporter::read(const std::string& path) {
  std::error_code failure;
  std::ifstream file(path, std::ios::binary);
  if (!file || !std::filesystem::is_regular_file(path, failure)) {
    err_ << path << ": cannot be read\n";
    return std::nullopt;
  }
  static const WatchRoot kNone;
  const WatchRoot* const found = root_of(path, input_.roots);
  const WatchRoot& root = found == nullptr ? kNone : *found;
  RejectCounter rejects;
  NoteCounter notes;
  FileDecoder decoder({.path = path,
                       .job = job_of(path, root.path, root.job),
                       .rank = root.rank,
                       .interner = interner_,
                       .diagnostics = rejects,
                       .list_directory = input_.list_directory,
                       .default_node = root.default_node,
                       .default_rank = root.default_rank,
                       .dumps = &notes,
                       .run_notes = &notes},
                      format_catalog(input_.declared.get()));
  FileReport report;
  report.path = path;
  EventBatch batch;
  std::string bytes(kChunk, '\0');
  for (bool more = true; more;) {
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    more = static_cast<bool>(file);
    decoder.feed(std::string_view(bytes).substr(0, static_cast<std::size_t>(file.gcount())), batch);
    if (!more) decoder.finish(batch);
    count(batch, report);
    batch.clear();
  }
  report.format = decoder.format();
  report.declared = decoder.declared();
  report.records = decoder.records();
  report.rejects = rejects.all();
  report.notes = notes.notes;
  report.collectives = notes.collectives;
  report.gpu_reports = notes.gpu_reports;
  explain(report);
  return report;
}

void FormatReporter::count(const EventBatch& batch, FileReport& report) const {
  for (const Event& event : batch) {
    report.spans += std::holds_alternative<Span>(event) ? 1 : 0;
    report.samples += std::holds_alternative<Sample>(event) ? 1 : 0;
    const auto* const scalar = std::get_if<Scalar>(&event);
    if (scalar == nullptr) continue;
    ++report.scalars;
    const bool belongs = report.first.empty() || (report.scalars == report.first.size() + 1 &&
                                                  report.first.front().step == scalar->step);
    if (belongs && report.first.size() < kMostShown) report.first.push_back(*scalar);
  }
}

// What a log says besides its records: "ends and collectives".
std::string what_lines_say(const FileReport& report) {
  std::string all;
  const auto add = [&all](std::uint64_t count, std::string_view what) {
    if (count > 0) all.append(all.empty() ? "" : " and ").append(what);
  };
  add(report.notes, "ends");
  add(report.collectives, "collectives");
  add(report.gpu_reports, "errors of GPUs");
  return all;
}

void FormatReporter::explain(FileReport& report) const {
  const auto all = formats_.all();
  const auto declaration = std::ranges::find_if(all, [&report](const FormatDeclaration* each) {
    const std::string_view reader = reader_of(each->kind);
    const bool reads =
        reader == report.format ||
        (reader == "console" && (report.format == "text" || report.format == "docker_log"));
    return reads && each->name == report.declared;
  });
  if (declaration != all.end()) {
    report.why = "it has " + probe_of(**declaration);
  } else if (report.declared.starts_with("guessed_")) {
    report.why = "no format knows it; guessed by the names of its values";
  } else if (report.format != "console" && report.format != "text") {
    explain_builtin(report);
  } else if (!what_lines_say(report).empty()) {
    report.why = "it has lines about " + what_lines_say(report);
  } else {
    report.skipped = "no line is of a known format";
  }
}

void FormatReporter::explain_builtin(FileReport& report) {
  if (report.format == kUnknownFormat.name) {
    report.skipped = "no format knows it";
  } else if (report.format == kEmptyFormat.name) {
    report.skipped = "there is nothing in it to read";
  } else if (report.format == kUtf16Format.name || report.format == kUtf32Format.name) {
    report.skipped = "its text is " + report.format + "; files of every format are UTF-8";
  } else {
    report.why = "its contents begin like those of this format";
  }
}

void print_text(const FileReport& report, const Interner& names, std::ostream& out) {
  out << report.path << ": ";
  if (!report.skipped.empty()) {
    out << "skipped: " << report.skipped << '\n';
    return;
  }
  out << report.format << (report.declared.empty() ? "" : ", " + report.declared)
      << "\n  why: " << report.why << "\n  records: " << report.records;
  if (report.scalars > 0) out << ", scalars: " << report.scalars;
  if (report.spans > 0) out << ", spans: " << report.spans;
  if (report.samples > 0) out << ", samples: " << report.samples;
  if (report.notes > 0) out << ", lines about ends: " << report.notes;
  if (report.collectives > 0) out << ", about collectives: " << report.collectives;
  if (report.gpu_reports > 0) out << ", about errors of GPUs: " << report.gpu_reports;
  if (report.rejects > 0) out << ", rejected: " << report.rejects;
  out << '\n';
  if (report.first.empty()) return;
  out << "  first:";
  if (report.first.front().step != kNoStep) out << " step " << report.first.front().step << ":";
  for (const Scalar& scalar : report.first) {
    out << ' ' << names.text(scalar.tag) << " = " << figure(scalar.value);
    if (scalar.kind != ScalarKind::other) out << " (" << to_string(scalar.kind) << ')';
    out << (&scalar == &report.first.back() ? "\n" : ",");
  }
}

void write_value(JsonWriter& json, double value) {
  if (std::isfinite(value)) {
    json.value(value);
  } else {
    json.value(figure(value));
  }
}

void print_json(const FileReport& report, const Interner& names, std::ostream& out) {
  JsonWriter json;
  json.begin_object().field("path", report.path);
  if (!report.skipped.empty()) {
    json.field("skipped", report.skipped).end_object();
    out << json.text() << '\n';
    return;
  }
  json.field("format", report.format);
  if (!report.declared.empty()) json.field("declared", report.declared);
  json.field("why", report.why).field("records", report.records);
  json.field("scalars", report.scalars).field("spans", report.spans);
  json.field("notes", report.notes).field("collectives", report.collectives);
  json.field("gpu_reports", report.gpu_reports);
  json.field("samples", report.samples).field("rejected", report.rejects);
  json.key("first").begin_array();
  for (const Scalar& scalar : report.first) {
    json.begin_object().field("tag", names.text(scalar.tag));
    json.field("kind", to_string(scalar.kind)).key("value");
    write_value(json, scalar.value);
    if (scalar.step != kNoStep) json.field("step", scalar.step);
    json.end_object();
  }
  json.end_array().end_object();
  out << json.text() << '\n';
}

// Of a file whose name does not say what it is; empty: of anything else.
std::string why_left(const SkippedPaths::Skipped& skipped) {
  if (skipped.reason == SkipReason::copy) return "holds the same records as " + skipped.of;
  if (skipped.reason == SkipReason::not_looked_at) return "one of too many to look at";
  if (skipped.reason != SkipReason::no_known_format) return {};
  return "nothing in its first bytes is of a known format";
}

void list_json(const DeclaredFormats& formats, std::ostream& out) {
  JsonWriter json;
  json.begin_array();
  for (const Format* const format : format_catalog()) {
    json.begin_object().field("name", format->name).end_object();
  }
  for (const FormatDeclaration* const format : formats.all()) {
    json.begin_object().field("name", format->name).field("kind", kind_name(format->kind));
    json.field("probe", probe_of(*format)).key("files").begin_array();
    for (const std::string& file : format->files) json.value(file);
    json.end_array().key("fields").begin_object();
    for (const DeclaredField& field : format->fields) {
      json.field(field.key, to_string(field.kind));
    }
    json.end_object().end_object();
  }
  out << json.end_array().text() << '\n';
}

void list_text(const DeclaredFormats& formats, std::ostream& out) {
  out << "Built in:\n ";
  for (const Format* const format : format_catalog()) out << ' ' << format->name;
  out << "\n\nDeclared, each known by its contents:\n";
  for (const FormatDeclaration* const format : formats.all()) {
    out << "  " << std::left << std::setw(22) << format->name << std::setw(6)
        << kind_name(format->kind) << probe_of(*format) << '\n';
    if (!format->files.empty()) out << std::string(30, ' ') << joined(format->files) << '\n';
  }
}

}  // namespace

int formats(const FormatsOptions& options, std::ostream& out, std::ostream& err) {
  const OfflineRun run(options, err);
  if (run.refused()) return *run.refused();
  const IngestOptions input = replay_input(options.paths, run.config());
  if (options.paths.empty()) {
    const DeclaredFormats& known = DeclaredFormats::or_presets(input.declared.get());
    options.json ? list_json(known, out) : list_text(known, out);
    out.flush();
    return out ? exit_code::done : exit_code::failed;
  }
  PosixFileSystem files(input.roots);
  Listing listing =
      list_with_logs(files, input.roots, tail_limits(run.config().tail), log_probe(input));
  std::ranges::sort(listing.files);
  FormatReporter reporter(input, err);
  std::size_t read = 0;
  for (const std::string& path : listing.files) {
    const auto report = reporter.read(path);
    if (!report) continue;
    read += report->skipped.empty() ? 1 : 0;
    (options.json ? print_json : print_text)(*report, reporter.interner(), out);
  }
  for (const SkippedPaths::Skipped& each : listing.skipped.first()) {
    const std::string why = why_left(each);
    if (why.empty()) continue;
    FileReport report;
    report.path = each.path;
    report.skipped = why;
    (options.json ? print_json : print_text)(report, reporter.interner(), out);
  }
  out.flush();
  return read > 0 && out ? exit_code::done : exit_code::failed;
}

}  // namespace trainwatch
