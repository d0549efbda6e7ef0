// SPDX-License-Identifier: Apache-2.0
// The processes and threads of a merged timeline: what they are called and in which order viewers
// show them.
//
// A timeline of SageMaker or TensorFlow names phases: a phase is one process, whatever file, node
// or rank its events come from, and each writer has its threads in it. Traces of PyTorch name real
// processes; those of one rank form a group of its name.
//
// Bounded: what has no room goes to a process or thread named "further".
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainwatch {

enum class ProcessId : std::uint32_t {};
enum class TrackId : std::uint32_t {};  // a thread of a process

class TrackTable {
 public:
  static constexpr std::size_t kMostProcesses = std::size_t{1} << 16U;
  static constexpr std::size_t kMostTracks = std::size_t{1} << 18U;

  // The phase of this name.
  ProcessId phase(std::string_view name);
  // Groups are shown in the order in which they were first named.
  std::size_t group(std::string_view name);
  // A process of a group; `pid` is its token in the traces.
  ProcessId process(std::size_t group, std::string_view pid);
  void name_process(ProcessId process, std::string_view name);
  // Such as "GPU 0", shown behind the name.
  void label_process(ProcessId process, std::string_view label);

  // `tid` is a token, or empty. The default name is "WRITER_TID", 0 where there is no tid.
  TrackId thread(ProcessId process, std::string_view writer, std::string_view tid);
  void name_thread(TrackId track, std::string_view name);
  // The counters of a process, which belong to no thread.
  TrackId counters(ProcessId process, std::string_view writer);

  // There is an event at this time. Only tracks with events are numbered.
  void saw(TrackId track, std::int64_t start_ns);

  // Numbers the processes with events. Within a class, groups come one after another, then what
  // begins first. Classes are those of SageMaker's MergedTimeline: steps from 1 on, then from
  // 10000, 20000 ... on forward, backward, DataIterator, Dataset, /device, /host, gpu_functions,
  // cpu_functions, Horovod; all others from 1000000 on.
  void number();

  struct Process {
    std::string name;
    std::string label;
    std::size_t group = 0;  // 0: none
    std::int64_t first_ns = 0;
    bool has_events = false;
    std::int64_t number = 0;
  };
  struct Track {
    ProcessId process{};
    std::string name;
    std::string writer;
    bool is_thread = true;
  };
  const Process& operator[](ProcessId id) const { return processes_[index(id)]; }
  const Track& operator[](TrackId id) const { return tracks_[index(id)]; }
  std::size_t tracks() const { return tracks_.size(); }
  std::size_t processes() const { return processes_.size(); }
  // As shown: with the name of its group and its label.
  std::string full_name(ProcessId process) const;

 private:
  template <class Id>
  static std::size_t index(Id id) {
    return static_cast<std::size_t>(id);
  }
  ProcessId process_of(std::size_t group, std::string_view key, std::string_view name);
  TrackId track_of(ProcessId process, std::string_view writer, std::string_view tid, bool thread);

  std::deque<Process> processes_;
  std::deque<Track> tracks_;
  std::vector<std::string> groups_;               // groups_[i] is group i + 1
  std::map<std::string, ProcessId> process_ids_;  // by group and key
  std::map<std::string, TrackId> track_ids_;      // by process, writer and tid
};

}  // namespace trainwatch
