// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/lane.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <optional>

#include "pipeline/tail/paths.h"

namespace trainwatch {
namespace {

bool drop_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix) || text.size() == suffix.size()) return false;
  text.remove_suffix(suffix.size());
  return true;
}

std::int64_t number(std::string_view digits) {
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  return error == std::errc{} && stop == end ? value : -1;
}

// The suffix that logrotate appends: ".7", or with `dateext` "-20261121". Removes it and returns
// ReadOrder::age; 0 if there is none.
std::int64_t drop_rotation(std::string_view& name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == name.size()) return 0;
  const std::size_t digits = name.size() - last - 1;
  const std::int64_t value = number(name.substr(last + 1));
  const char mark = name[last];
  constexpr std::int64_t kDates = 100'000'000;
  const bool numbered = mark == '.' && digits <= 4 && value > 0;
  const bool dated = mark == '-' && digits == 8;
  if (!numbered && !dated) return 0;
  name = name.substr(0, last);
  return numbered ? -value : value - kDates;
}

// The parts of a file name.
struct NameParts {
  std::string_view base;  // with its ".json"
  std::string_view stem;  // without
  std::int64_t age = 0;
};

// "nccl_trace_rank_12", "rank_3", "_dump_0": a dump of a rank, whose prefix users choose.
bool is_dump_name(std::string_view name) {
  const std::string_view prefix = name.substr(0, name.find_last_not_of("0123456789") + 1);
  const auto has = [prefix](std::string_view word) {
    return prefix.find(word) != std::string_view::npos;
  };
  const bool numbered = prefix.size() < name.size() && !has(".");
  return numbered && (has("rank") || has("dump") || has("trace"));
}

// TensorBoard's event files, whose names end in numbers that are no rotation; W&B's log of a run.
bool is_logger_name(std::string_view name) {
  return name.find(".tfevents.") != std::string_view::npos || name.ends_with(".wandb");
}

// "000000000004_worker_0.tfevents" of a trial.
bool is_trial_name(std::string_view name) {
  const std::size_t bar = name.find('_');
  return bar != std::string_view::npos && number(name.substr(0, bar)) >= 0 &&
         name.ends_with(".tfevents");
}

// "cycle_info.4711.0.3" of NVIDIA's resiliency extension; the name that ends in "current" is a link
// to one of them.
bool is_cycle_name(std::string_view name) {
  return name.starts_with("cycle_info.") && !name.ends_with(".current");
}

// "node-a-pid4711.log" of NCCL's Inspector.
bool is_inspector_name(std::string_view name) {
  if (!drop_suffix(name, ".log")) return false;
  const std::string_view prefix = name.substr(0, name.find_last_not_of("0123456789") + 1);
  return prefix.size() < name.size() && prefix.ends_with("-pid");
}

// nullopt if it is not the name of a trace file.
std::optional<NameParts> parts_of(std::string_view name) {
  NameParts parts;
  drop_suffix(name, ".tmp");
  drop_suffix(name, ".gz");
  if (is_logger_name(name) || is_trial_name(name) || is_cycle_name(name)) {
    parts.base = parts.stem = name;
    return parts;
  }
  parts.age = drop_rotation(name);
  parts.base = name;
  for (const std::string_view kind : {".json", ".jsonl", ".ndjson", ".csv", ".tsv"}) {
    if (!drop_suffix(name, kind)) continue;
    parts.stem = name;
    return parts;
  }
  if (is_dump_name(name) || is_console_name(name) || is_inspector_name(name)) {
    parts.stem = name;
    return parts;
  }
  return std::nullopt;
}

// The same of a file that only its contents show to be a log.
std::optional<NameParts> parts_of_log(std::string_view name) {
  if (!may_name_a_log(name)) return std::nullopt;
  NameParts parts;
  drop_suffix(name, ".tmp");
  drop_suffix(name, ".gz");
  parts.age = drop_rotation(name);
  parts.base = parts.stem = name;
  return parts;
}

std::string_view directory_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

// Where the last component `name` of a directory path begins.
std::optional<std::size_t> find_component(std::string_view directory, std::string_view name) {
  for (std::size_t end = directory.size() + 1; end-- > 0;) {
    const auto at = directory.rfind(name, end);
    if (at == std::string_view::npos) return std::nullopt;
    const bool begins = at == 0 || directory[at - 1] == '/';
    const auto after = at + name.size();
    if (begins && (after == directory.size() || directory[after] == '/')) return at;
    end = at;
  }
  return std::nullopt;
}

std::string_view before_component(std::string_view directory, std::string_view name) {
  const auto at = find_component(directory, name);
  return at ? directory.substr(0, *at) : directory;
}

std::string lane_name(std::string_view kind, std::string_view base, std::string_view writer) {
  std::string lane(kind);
  lane.append(":").append(base).append(":").append(writer);
  return lane;
}

ReadOrder order_at(std::int64_t stamp_ns) {
  ReadOrder order;
  order.stamp_ns = stamp_ns;
  return order;
}

// "2020_08_05_13_37_44" read as UTC: the path has no zone, and only the order matters.
std::int64_t date_stamp(std::string_view text) {
  using namespace std::chrono;
  if (text.size() != 19) return ReadOrder::kNoStamp;
  const year_month_day date{year{static_cast<int>(number(text.substr(0, 4)))},
                            month{static_cast<unsigned>(number(text.substr(5, 2)))},
                            day{static_cast<unsigned>(number(text.substr(8, 2)))}};
  const std::int64_t h = number(text.substr(11, 2));
  const std::int64_t m = number(text.substr(14, 2));
  const std::int64_t s = number(text.substr(17, 2));
  if (!date.ok() || h < 0 || m < 0 || s < 0) return ReadOrder::kNoStamp;
  return nanoseconds(sys_days{date}.time_since_epoch() + hours{h} + minutes{m} + seconds{s})
      .count();
}

// system/incremental/[YYYYMMDDHH/]<10-digit s>.<node>.json, one file per node and minute.
std::optional<FilePlace> system_metrics(std::string_view directory, std::string_view stem) {
  const auto dot = stem.find('.');
  if (dot != 10 || dot + 1 == stem.size()) return std::nullopt;
  const std::int64_t stamp = stamp_of(stem.substr(0, dot));
  if (stamp == ReadOrder::kNoStamp) return std::nullopt;
  std::string_view base = directory;
  if (const auto at = find_component(directory, "system")) base = directory.substr(0, *at + 6);
  return FilePlace{lane_name("system", base, stem.substr(dot + 1)), false, order_at(stamp)};
}

// framework/pevents/<hour>/<end_us>_<node>_<kind>timeline.json; while it is being written
// framework/<node>_<kind>timeline.json.tmp. Node and kind are not separated: old nodes contain '_'.
std::optional<FilePlace> timeline(std::string_view directory, std::string_view stem) {
  if (!stem.ends_with("timeline")) return std::nullopt;
  const auto bar = stem.find('_');
  if (bar == std::string_view::npos) return std::nullopt;
  const std::int64_t stamp = stamp_of(stem.substr(0, bar));
  const std::string_view writer = stamp == ReadOrder::kNoStamp ? stem : stem.substr(bar + 1);
  const std::string_view base =
      before_component(before_component(directory, "pevents"), "framework");
  return FilePlace{lane_name("timeline", base, writer), false, order_at(stamp)};
}

// {worker}.{T}.pt.trace.json; the worker is "{hostname}_{pid}" and may contain dots.
std::optional<FilePlace> profiler(std::string_view directory, std::string_view stem) {
  if (!drop_suffix(stem, ".pt.trace")) return std::nullopt;
  const auto dot = stem.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::int64_t stamp = stamp_of(stem.substr(dot + 1));
  if (stamp == ReadOrder::kNoStamp) return std::nullopt;
  return FilePlace{lane_name("profiler", directory, stem.substr(0, dot)), false, order_at(stamp)};
}

// events/<step>/<step>_<worker>.tfevents of a trial, in the order of steps.
std::optional<FilePlace> trial_events(std::string_view directory, std::string_view stem) {
  const auto bar = stem.find('_');
  if (bar == std::string_view::npos || !drop_suffix(stem, ".tfevents")) return std::nullopt;
  const auto at = find_component(directory, "events");
  const std::int64_t step = number(stem.substr(0, bar));
  if (!at || step < 0 || number(name_of(directory)) < 0) return std::nullopt;
  return FilePlace{lane_name("trial", directory.substr(0, *at), stem.substr(bar + 1)), false,
                   order_at(step)};
}

// detailed_profiling/<hour>/<step>/plugins/profile/<YYYY_MM_DD_HH_MM_SS>/<host>.trace.json.gz
std::optional<FilePlace> tensorflow(std::string_view directory, std::string_view stem) {
  const auto at = find_component(directory, "detailed_profiling");
  if (!at || !drop_suffix(stem, ".trace")) return std::nullopt;
  return FilePlace{lane_name("tensorflow", directory.substr(0, *at), stem), false,
                   order_at(date_stamp(name_of(directory)))};
}

}  // namespace

std::int64_t stamp_of(std::string_view digits) {
  std::int64_t scale = 0;
  switch (digits.size()) {
    case 10:
      scale = 1'000'000'000;
      break;
    case 13:
      scale = 1'000'000;
      break;
    case 16:
      scale = 1'000;
      break;
    case 19:
      scale = 1;
      break;
    default:
      return ReadOrder::kNoStamp;
  }
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || stop != end || value < 0) return ReadOrder::kNoStamp;
  return value > ReadOrder::kNoStamp / scale ? ReadOrder::kNoStamp : value * scale;
}

bool is_console_name(std::string_view name) {
  constexpr std::string_view kConsoles[] = {"stdout.log", "stderr.log", "console.log",
                                            "output.log"};
  const bool slurm = (name.ends_with(".out") || name.ends_with(".err")) && name.size() > 4;
  const bool nemo = name.starts_with("nemo_log_") && name.ends_with(".txt");
  return slurm || nemo || std::ranges::find(kConsoles, name) != std::end(kConsoles);
}

std::string_view without_rotation(std::string_view name) {
  drop_suffix(name, ".tmp");
  drop_suffix(name, ".gz");
  (void)drop_rotation(name);
  return name;
}

bool may_name_a_log(std::string_view name) {
  // What trainwatch says of a job reads like what the job says.
  if (name.starts_with('.') || name.starts_with("trainwatch") || is_trace_name(name)) return false;
  name = without_rotation(name);
  const bool ends = name.ends_with(".log") || name.ends_with(".txt");
  return ends || name.find('.') == std::string_view::npos;
}

bool is_trace_name(std::string_view name) {
  return parts_of(name).has_value();
}

FilePlace place_of(const std::string& path) {
  const std::string_view directory = directory_of(path);
  auto parts = parts_of(name_of(path));
  const bool is_trace = parts.has_value();
  if (!is_trace) parts = parts_of_log(name_of(path));
  std::optional<FilePlace> place;
  if (is_trace) {
    for (const auto layout : {profiler, tensorflow, timeline, system_metrics, trial_events}) {
      if (!place) place = layout(directory, parts->stem);
    }
  }
  std::string base = path;
  if (parts)
    base.resize(static_cast<std::size_t>(parts->base.data() - path.data()) + parts->base.size());
  if (!place) place = FilePlace{lane_name("file", base, ""), true, {}};
  place->order.base = std::move(base);
  place->order.age = parts ? parts->age : 0;
  place->order.path = path;
  return *std::move(place);
}

}  // namespace trainwatch
