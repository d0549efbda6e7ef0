// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "commands/cli/options.h"
#include "commands/commands.h"
#include "commands/offline_run.h"
#include "daemon/config/config_text.h"
#include "daemon/exit_code.h"
#include "pipeline/analysis/catalog.h"
#include "pipeline/analysis/hta/trace_diff.h"
#include "trainwatch/figures.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

// `trainwatch analyze CONTROL TEST --what=trace_diff`.

constexpr std::size_t kMostRows = 4096;

struct Side {
  std::map<std::int32_t, TraceTotals> ranks;
  std::uint64_t ranks_left_out = 0;
};

std::variant<Side, int> read_side(const AnalyzeOptions& options, const std::string& path,
                                  std::ostream& err) {
  AnalyzeOptions side = options;
  side.paths = {path};
  const OfflineRun files(side, err);
  if (files.refused()) return *files.refused();
  Engine engine({}, {&trace_totals_analysis()});
  engine.analyses().select({}, {options.steps, {}});
  files.read_into(engine, [] {});
  const auto job = choose_job(options.job, engine.analyses().jobs());
  if (!job.ok()) {
    err << path << ": " << job.error().message << '\n';
    return exit_code::usage;
  }
  const auto* totals = dynamic_cast<const TraceTotalsAnalysis*>(
      engine.analyses().find(trace_totals_analysis().name, *job));
  if (totals == nullptr || totals->ranks().empty()) {
    err << path << ": not a profiler trace\n";
    return exit_code::failed;
  }
  return Side{totals->ranks(), totals->ranks_left_out()};
}

using RankPair = std::pair<std::int32_t, std::int32_t>;

// The first rank that both have; if each has only one, those.
std::optional<RankPair> ranks_to_compare(const Side& control, const Side& test) {
  for (const auto& [rank, totals] : control.ranks) {
    if (test.ranks.contains(rank)) return RankPair{rank, rank};
  }
  if (control.ranks.size() != 1 || test.ranks.size() != 1) return std::nullopt;
  return RankPair{control.ranks.begin()->first, test.ranks.begin()->first};
}

std::optional<std::int64_t> per_step(std::int64_t sum_ns, std::uint64_t steps) {
  if (steps == 0) return std::nullopt;
  return sum_ns / static_cast<std::int64_t>(steps);
}

void add_changes(Figures& out, const std::vector<TraceChange>& changes, std::uint64_t control,
                 std::uint64_t test) {
  FigureTable& table =
      out.table({"name", "on", "control_counts", "test_counts", "diff_counts",
                 "counts_change_category", "control_total_duration_ns", "test_total_duration_ns",
                 "diff_duration_ns", "control_duration_per_step_ns", "test_duration_per_step_ns"});
  const std::size_t shown = std::min(changes.size(), kMostRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const TraceChange& of = changes[i];
    table.row(of.of.name, of.of.on_device ? "device" : "host", of.control.count, of.test.count,
              of.count_difference(), of.category(), of.control.duration_ns, of.test.duration_ns,
              of.duration_difference_ns(), per_step(of.control.duration_ns, control),
              per_step(of.test.duration_ns, test));
  }
}

void add_side(Figures& out, std::int32_t rank, const TraceTotals& totals) {
  std::optional<std::int32_t> known;
  if (rank != kNoRank) known = rank;
  out.add("rank", known).add("steps", totals.steps);
}

// What differs between two traces, by the names of their events. Reads the two `options.paths` one
// after the other. Returns the result, or the exit code of a command that failed, with the reason
// on `err`.
std::variant<Figures, int> compare_traces(const AnalyzeOptions& options, std::ostream& err) {
  auto control = read_side(options, options.paths[0], err);
  if (const int* const refused = std::get_if<int>(&control)) return *refused;
  auto test = read_side(options, options.paths[1], err);
  if (const int* const refused = std::get_if<int>(&test)) return *refused;
  const Side& before = std::get<Side>(control);
  const Side& after = std::get<Side>(test);
  const auto ranks = ranks_to_compare(before, after);
  if (!ranks) {
    err << options.paths[0] << " and " << options.paths[1] << " have no rank in common\n";
    return exit_code::failed;
  }
  const TraceTotals& was = before.ranks.at(ranks->first);
  const TraceTotals& is = after.ranks.at(ranks->second);
  const std::vector<TraceChange> changes = trace_diff(was, is);
  std::uint64_t left_out =
      was.left_out + is.left_out + before.ranks_left_out + after.ranks_left_out;
  if (changes.size() > kMostRows) left_out += changes.size() - kMostRows;
  Figures out;
  add_changes(out, changes, was.steps, is.steps);
  add_side(out.group("control"), ranks->first, was);
  add_side(out.group("test"), ranks->second, is);
  out.add("left_out", left_out);
  return out;
}

// The command.

// Empty when all of `names` are known.
std::string unknown_name(const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const AnalysisSpec* spec : analysis_catalog()) known.push_back(spec->name);
  known.push_back(kTraceDiff);
  known.push_back(kPythonProfile);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string message = "unknown analysis '" + name + "'" + did_you_mean(name, known);
    message += "; known analyses:";
    for (const std::string_view one : known) message.append(" ").append(one);
    return message;
  }
  return {};
}

AnalysisList wanted(const std::vector<std::string>& names) {
  AnalysisList analyses;
  for (const AnalysisSpec* spec : analysis_catalog()) {
    if (std::find(names.begin(), names.end(), spec->name) != names.end()) analyses.push_back(spec);
  }
  return analyses;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TimeRange range_of(const AnalyzeOptions& options) {
  TimeRange range;
  if (options.from_us) range.from = Time{std::chrono::microseconds(*options.from_us)};
  if (options.to_us) range.to = Time{std::chrono::microseconds(*options.to_us)};
  return range;
}

}  // namespace

int analyze(const AnalyzeOptions& options, std::ostream& out, std::ostream& err) {
  if (const std::string unknown = unknown_name(options.what); !unknown.empty()) {
    err << unknown << '\n';
    return exit_code::usage;
  }
  const TimeRange range = range_of(options);
  if (range.to < range.from) {
    err << "--to-us is before --from-us\n";
    return exit_code::usage;
  }
  const bool compares = contains(options.what, kTraceDiff);
  if (compares && options.paths.size() != 2) {
    err << kTraceDiffUsage << '\n';
    return exit_code::usage;
  }
  const OfflineRun files(options, err);
  if (files.refused()) return *files.refused();
  Engine engine({}, wanted(options.what));
  engine.analyses().select(range, {options.steps, options.op});
  const bool reads = !engine.analyses().analyses().empty();
  if (reads) files.read_into(engine, [] {});
  const auto job = reads || !compares ? choose_job(options.job, engine.analyses().jobs())
                                      : Result<std::string>(std::string());
  if (!job.ok()) {
    err << job.error().message << '\n';
    return exit_code::usage;
  }
  Figures compared;
  if (compares) {
    auto traces = compare_traces(options, err);
    if (const int* const refused = std::get_if<int>(&traces)) return *refused;
    compared = std::get<Figures>(std::move(traces));
  }
  // Keeps only one result in memory.
  JsonWriter json([&out](std::string_view piece) { out << piece; });
  json.begin_object();
  for (const std::string& name : options.what) {
    json.key(name);
    if (name == kTraceDiff) {
      compared.write(json);
    } else {
      job_result(engine.analyses(), name, *job, options.paths).write(json);
    }
  }
  json.end_object().finish();
  out << '\n' << std::flush;
  if (out) return exit_code::done;
  err << "cannot write the result\n";
  return exit_code::failed;
}

}  // namespace trainwatch
