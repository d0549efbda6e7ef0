#include "pipeline/profile/profile_report.h"

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "pipeline/profile/cprofile_stats.h"
#include "pipeline/profile/marshal_reader.h"
#include "pipeline/profile/pyinstrument_stats.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

void write_function(JsonWriter& json, const PythonFunction& function) {
  json.value(function.file).value(function.line).value(function.name);
}

void write_columns(JsonWriter& json, std::initializer_list<const char*> columns) {
  json.key("columns").begin_array();
  for (const char* column : columns) json.value(column);
  json.end_array();
}

void write_stats(JsonWriter& json, const CprofileStats& stats, std::size_t top) {
  const CallStats totals = stats.totals();
  json.field("pcalls", totals.pcalls).field("ncalls", totals.ncalls);
  json.field("total_time_ns", totals.total_ns);
  json.key("top_functions").begin_object();
  write_columns(json, {"file", "line", "function", "pcalls", "ncalls", "total_time_ns",
                       "cumulative_time_ns"});
  json.key("rows").begin_array();
  for (const auto* entry : stats.top_by_cumulative_time(top)) {
    const CallStats& calls = entry->second.calls;
    json.begin_array();
    write_function(json, entry->first);
    json.value(calls.pcalls).value(calls.ncalls).value(calls.total_ns).value(calls.cumulative_ns);
    json.end_array();
  }
  json.end_array().end_object();
}

void write_stats(JsonWriter& json, const PyinstrumentStats& stats, std::size_t top) {
  json.field("samples", stats.samples()).field("duration_ns", stats.duration_ns());
  json.key("top_functions").begin_object();
  write_columns(json, {"file", "line", "function", "self_time_ns", "total_time_ns"});
  json.key("rows").begin_array();
  for (const auto* entry : stats.top_by_total_time(top)) {
    json.begin_array();
    write_function(json, entry->first);
    json.value(entry->second.self_ns).value(entry->second.total_ns).end_array();
  }
  json.end_array().end_object();
}

// Profiles of one part of a job, added up.
template <class Stats>
struct Part {
  Stats stats;
  std::uint64_t profiles = 0;

  void add(const Stats& other) {
    stats.add(other);
    ++profiles;
  }
  void write(JsonWriter& json, std::size_t top) const {
    json.field("profiles", profiles);
    json.field("functions", stats.functions().size()).field("dropped", stats.dropped());
    write_stats(json, stats, top);
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

  void write(JsonWriter& json, std::size_t top) const {
    json.begin_object();
    write_part(json, "before_step_zero", before_step_zero_, top);
    write_part(json, "training_loop", training_loop_, top);
    write_part(json, "after_hook_close", after_hook_close_, top);
    json.key("phases").begin_array();
    for (const auto& [ends, part] : phases_) {
      const auto& [start_mode, start_phase, end_mode, end_phase] = ends;
      json.begin_object();
      json.field("start_mode", to_string(start_mode)).field("start_phase", to_string(start_phase));
      json.field("end_mode", to_string(end_mode)).field("end_phase", to_string(end_phase));
      part.write(json, top);
      json.end_object();
    }
    json.end_array().end_object();
  }

 private:
  static void write_part(JsonWriter& json, const char* key, const Part<Stats>& part,
                         std::size_t top) {
    json.key(key).begin_object();
    part.write(json, top);
    json.end_object();
  }

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

  std::string json(std::size_t top) const {
    JsonWriter json;
    json.begin_object().key("nodes").begin_array();
    for (const auto& [node, rank] : nodes_) {
      json.begin_object().field("node", node).key("rank");
      (rank == kNoRank ? json.null() : json.value(rank)).end_object();
    }
    json.end_array();
    json.key("cprofile");
    cprofile_.write(json, top);
    json.key("pyinstrument");
    pyinstrument_.write(json, top);
    json.key("rejected").begin_array();
    for (const ProfileRejection& rejection : rejected_) {
      json.begin_object().field("path", valid_utf8(rejection.path));
      json.field("reason", valid_utf8(rejection.reason)).end_object();
    }
    json.end_array().field("left_out", left_out_).end_object();
    return json.take();
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

std::string python_profile_json(FileSystem& files, const ProfileIndex& index,
                                const ProfileReportOptions& options) {
  Report report{files, index};
  for (const FoundProfile& profile : index.profiles) {
    if (options.query.matches(profile.name)) report.add(profile);
  }
  return report.json(options.top);
}

}  // namespace trainwatch
