// SPDX-License-Identifier: Apache-2.0
#include "pipeline/profile/profile_report.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "pipeline/profile/cprofile_stats.h"
#include "pipeline/profile/marshal_reader.h"
#include "pipeline/profile/pyinstrument_stats.h"
#include "pipeline/tail/read_whole_file.h"

namespace trainwatch {
namespace {

void add_stats(Figures& out, const CprofileStats& stats, std::size_t top) {
  const CallStats totals = stats.totals();
  out.add("pcalls", totals.pcalls).add("ncalls", totals.ncalls);
  out.add("total_time_ns", totals.total_ns);
  FigureTable& table = out.table("top_functions", {"file", "line", "function", "pcalls", "ncalls",
                                                   "total_time_ns", "cumulative_time_ns"});
  for (const auto* entry : stats.top_by_cumulative_time(top)) {
    const auto& [function, row] = *entry;
    table.row(function.file, function.line, function.name, row.calls.pcalls, row.calls.ncalls,
              row.calls.total_ns, row.calls.cumulative_ns);
  }
}

void add_stats(Figures& out, const PyinstrumentStats& stats, std::size_t top) {
  out.add("samples", stats.samples()).add("duration_ns", stats.duration_ns());
  FigureTable& table =
      out.table("top_functions", {"file", "line", "function", "self_time_ns", "total_time_ns"});
  for (const auto* entry : stats.top_by_total_time(top)) {
    const auto& [function, times] = *entry;
    table.row(function.file, function.line, function.name, times.self_ns, times.total_ns);
  }
}

// The sum of the profiles of one part of a job.
template <class Stats>
struct Part {
  Stats stats;
  std::uint64_t profiles = 0;

  void add(const Stats& other) {
    stats.add(other);
    ++profiles;
  }
  void add_to(Figures& out, std::size_t top) const {
    out.add("profiles", profiles);
    out.add("functions", stats.functions().size()).add("dropped", stats.dropped());
    add_stats(out, stats, top);
  }
};

template <class Stats>
class Parts {
 public:
  void add(const ProfileName& name, const Stats& stats) {
    if (is_before_step_zero(name)) before_step_zero_.add(stats);
    if (is_after_hook_close(name)) after_hook_close_.add(stats);
    if (is_in_training_loop(name)) training_loop_.add(stats);
    phases_[{name.start.mode, name.start.phase, name.end.mode, name.end.phase}].add(stats);
  }

  void add_to(Figures& out, std::size_t top) const {
    before_step_zero_.add_to(out.group("before_step_zero"), top);
    training_loop_.add_to(out.group("training_loop"), top);
    after_hook_close_.add_to(out.group("after_hook_close"), top);
    Figures::Groups phases;
    for (const auto& [ends, part] : phases_) {
      const auto& [start_mode, start_phase, end_mode, end_phase] = ends;
      Figures& phase = phases.emplace_back();
      phase.add("start_mode", to_string(start_mode)).add("start_phase", to_string(start_phase));
      phase.add("end_mode", to_string(end_mode)).add("end_phase", to_string(end_phase));
      part.add_to(phase, top);
    }
    out.add("phases", std::move(phases));
  }

 private:
  using Ends = std::tuple<ProfileMode, ProfilePhase, ProfileMode, ProfilePhase>;

  Part<Stats> before_step_zero_;
  Part<Stats> training_loop_;
  Part<Stats> after_hook_close_;
  std::map<Ends, Part<Stats>> phases_;
};

class Report {
 public:
  Report(FileSystem& files, const ProfileIndex& index)
      : files_(files), rejected_(index.rejected), left_out_(index.left_out) {}

  void add(const FoundProfile& profile) {
    nodes_.emplace(profile.name.node, profile.name.rank);
    Status read = profile.name.profiler == PythonProfiler::cprofile
                      ? add_to(cprofile_, profile, kMaxMarshalBytes)
                      : add_to(pyinstrument_, profile, PyinstrumentStats::kMaxBytes);
    if (!read) reject({profile.path, read.error().message});
  }

  Figures figures(std::size_t top) const {
    Figures out;
    Figures::Groups nodes;
    for (const auto& [node, rank] : nodes_) {
      std::optional<std::int32_t> known;
      if (rank != kNoRank) known = rank;
      nodes.emplace_back().add("node", node).add("rank", known);
    }
    out.add("nodes", std::move(nodes));
    cprofile_.add_to(out.group("cprofile"), top);
    pyinstrument_.add_to(out.group("pyinstrument"), top);
    Figures::Groups rejected;
    for (const ProfileRejection& rejection : rejected_) {
      rejected.emplace_back()
          .add("path", valid_utf8(rejection.path))
          .add("reason", valid_utf8(rejection.reason));
    }
    out.add("rejected", std::move(rejected)).add("left_out", left_out_);
    return out;
  }

 private:
  template <class Stats>
  Status add_to(Parts<Stats>& parts, const FoundProfile& profile, std::size_t max_bytes) {
    auto bytes = read_whole_file(files_, profile.path, max_bytes);
    if (!bytes) return bytes.error();
    const auto stats = Stats::parse(std::move(*bytes));
    if (!stats) return stats.error();
    parts.add(profile.name, *stats);
    return success();
  }

  void reject(ProfileRejection rejection) {
    if (rejected_.size() < ProfileIndex::kMaxRejections) {
      rejected_.push_back(std::move(rejection));
    } else {
      ++left_out_;
    }
  }

  FileSystem& files_;
  std::set<std::pair<std::string, std::int32_t>> nodes_;
  Parts<CprofileStats> cprofile_;
  Parts<PyinstrumentStats> pyinstrument_;
  std::vector<ProfileRejection> rejected_;
  std::uint64_t left_out_;
};

}  // namespace

Figures python_profile(FileSystem& files, const ProfileIndex& index,
                       const ProfileReportOptions& options) {
  Report report{files, index};
  for (const FoundProfile& profile : index.profiles) {
    if (options.query.matches(profile.name)) report.add(profile);
  }
  return report.figures(options.top);
}

}  // namespace trainwatch
