// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/track_table.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "pipeline/decode/json_cursor.h"
#include "trainwatch/valid_text.h"

namespace trainwatch {
namespace {

constexpr std::size_t kLongestName = 256;
constexpr std::string_view kFurtherName = "further";

// The first part that the name of a process contains decides its class.
struct ProcessClass {
  std::string_view part;
  std::int64_t first;
};
constexpr std::array<ProcessClass, 11> kClasses = {{{"Step:", 1},
                                                    {"Forward", 10000},
                                                    {"Backward", 20000},
                                                    {"DataIterator", 30000},
                                                    {"Dataset", 40000},
                                                    {"/device", 50000},
                                                    {"/host", 60000},
                                                    {"gpu_functions", 70000},
                                                    {"cpu_functions", 80000},
                                                    {"Horovod", 90000},
                                                    {"", 1000000}}};

std::size_t class_of(std::string_view name) {
  const auto* const found = std::ranges::find_if(kClasses, [name](const ProcessClass& one) {
    return name.find(one.part) != std::string_view::npos;
  });
  return static_cast<std::size_t>(found - kClasses.begin());
}

bool is_full(std::size_t its_class, std::int64_t count) {
  const bool last = its_class + 1 == kClasses.size();
  return !last && kClasses[its_class].first + count >= kClasses[its_class + 1].first;
}

std::string name_of_text(std::string_view text) {
  return valid_name(text, kLongestName);
}

// A token as text: without its quotes.
std::string_view plain(std::string_view token) {
  return is_string_token(token) ? between_quotes(token) : token;
}

}  // namespace

ProcessId TrackTable::process_of(std::size_t group, std::string_view key, std::string_view name) {
  const auto place_of = [&](std::string_view part) {
    return std::to_string(group) + ' ' + std::string(part);
  };
  std::string place = place_of(name_of_text(key));
  if (const auto known = process_ids_.find(place); known != process_ids_.end())
    return known->second;
  if (processes_.size() >= kMostProcesses) {
    place = place_of(kFurtherName);
    name = kFurtherName;
  }
  const auto id = static_cast<ProcessId>(processes_.size());
  const auto [entry, added] = process_ids_.try_emplace(std::move(place), id);
  if (!added) return entry->second;
  Process& process = processes_.emplace_back();
  process.name = name_of_text(name);
  process.group = group;
  return id;
}

ProcessId TrackTable::phase(std::string_view name) {
  return process_of(0, name, name);
}

std::size_t TrackTable::group(std::string_view name) {
  const auto found = std::ranges::find(groups_, name);
  const auto place = static_cast<std::size_t>(found - groups_.begin());
  if (found == groups_.end()) groups_.emplace_back(name);
  return place + 1;
}

ProcessId TrackTable::process(std::size_t group, std::string_view pid) {
  return process_of(group, pid, plain(pid));
}

void TrackTable::name_process(ProcessId process, std::string_view name) {
  processes_[index(process)].name = name_of_text(name);
}

void TrackTable::label_process(ProcessId process, std::string_view label) {
  processes_[index(process)].label = name_of_text(label);
}

TrackId TrackTable::track_of(ProcessId process, std::string_view writer, std::string_view tid,
                             bool thread) {
  std::string key = std::to_string(index(process)) + (thread ? "t" : "c");
  key.append(name_of_text(writer)).append(1, '\0').append(name_of_text(tid));
  if (const auto known = track_ids_.find(key); known != track_ids_.end()) return known->second;
  const bool further = tracks_.size() >= kMostTracks;
  if (further) key = std::to_string(index(process)) + "f";
  const auto id = static_cast<TrackId>(tracks_.size());
  const auto [entry, added] = track_ids_.try_emplace(std::move(key), id);
  if (!added) return entry->second;
  Track& track = tracks_.emplace_back();
  track.process = process;
  track.writer = name_of_text(writer);
  track.is_thread = thread;
  track.name = track.writer.empty() ? "" : track.writer + "_";
  track.name += further ? kFurtherName : tid.empty() ? "0" : name_of_text(plain(tid));
  return id;
}

TrackId TrackTable::thread(ProcessId process, std::string_view writer, std::string_view tid) {
  return track_of(process, writer, tid, true);
}

TrackId TrackTable::counters(ProcessId process, std::string_view writer) {
  return track_of(process, writer, "", false);
}

void TrackTable::name_thread(TrackId track, std::string_view name) {
  tracks_[index(track)].name = name_of_text(name);
}

void TrackTable::saw(TrackId track, std::int64_t start_ns) {
  Process& process = processes_[index(tracks_[index(track)].process)];
  process.first_ns = process.has_events ? std::min(process.first_ns, start_ns) : start_ns;
  process.has_events = true;
}

void TrackTable::number() {
  std::vector<Process*> shown;
  for (Process& process : processes_) {
    if (process.has_events) shown.push_back(&process);
  }
  const auto order = [](const Process* process) {
    return std::tuple(process->group, process->first_ns);
  };
  std::ranges::stable_sort(shown, {}, order);
  std::array<std::int64_t, kClasses.size()> count{};
  for (Process* const process : shown) {
    std::size_t its_class = class_of(process->name);
    if (is_full(its_class, count[its_class])) its_class = kClasses.size() - 1;
    process->number = kClasses[its_class].first + count[its_class]++;
  }
}

std::string TrackTable::full_name(ProcessId id) const {
  const Process& process = processes_[index(id)];
  std::string name = process.group == 0 ? "" : groups_[process.group - 1];
  if (process.group != 0 && !process.name.empty()) name += ": ";
  name += process.name;
  if (!process.label.empty()) name.append(" (").append(process.label).append(")");
  return name;
}

}  // namespace trainwatch
