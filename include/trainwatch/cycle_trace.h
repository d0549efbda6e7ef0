// SPDX-License-Identifier: Apache-2.0
// One cycle of a profiler (one Kineto trace file), reduced to what the GPU analyses read: rows of
// device activity, the runtime calls that launched it, and annotations. Operators, arguments and
// all other events are not kept, so a cycle takes 40 bytes per kernel with its launch; only
// analyses of finished files may ask for the events of the host as well.
//
// A value: the decoder fills it while the document is read, and passes it on once the document is
// complete, when rank and time base are known. Nothing of it outlives the call that receives it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/name_table.h"
#include "trainwatch/subject.h"
#include "trainwatch/time.h"

namespace trainwatch {

inline constexpr std::int32_t kNoStream = -1;
inline constexpr std::uint32_t kNoRow = 0xFFFFFFFF;

// How many bits rows have for what they refer to; a cycle has millions of them.
inline constexpr unsigned kNameBits = 22;
inline constexpr unsigned kLaunchBits = 21;
inline constexpr std::uint32_t kNoLaunch = (std::uint32_t{1} << kLaunchBits) - 1;

// From the category; older names count as their newer equivalents.
enum class DeviceKind : std::uint8_t { kernel, memory_copy, memory_set, sync, accelerator, count_ };

// The purpose of a device activity, by HTA 0.6.1's patterns for names, with ncclDevKernel_* counted
// as communication.
enum class ActivityClass : std::uint8_t { computation, communication, memory, other, count_ };

// Where activities ran. Each copy or fill whose bandwidth the file says has one of its own.
struct DevicePlace {
  std::int32_t stream = kNoStream;
  std::int32_t device = 0;
  float memory_gbps = 0;
};

// An activity on a stream of a device. The names of a trace, its launches and its places fit in
// their bits, as the decoder bounds them.
struct DeviceActivity {
  static constexpr unsigned kDurationBits = 51;
  static constexpr unsigned kPlaceBits = 21;
  static constexpr std::int64_t kLongestNs = (std::int64_t{1} << (kDurationBits - 1)) - 1;
  static constexpr std::uint64_t kMostPlaces = (std::uint64_t{1} << kPlaceBits) - 1;

  std::int64_t start_ns = 0;  // since the epoch, once the cycle is complete
  std::int64_t duration_ns : kDurationBits = 0;
  DeviceKind kind : 3 = DeviceKind{};
  ActivityClass activity_class : 3 = ActivityClass{};
  bool within_layers : 1 = false;  // of communication: by design, as in tensor parallelism
  NameId name : kNameBits = NameId{};
  std::uint64_t place : kPlaceBits = 0;            // index into CycleTrace::places
  std::uint32_t launch : kLaunchBits = kNoLaunch;  // index into CycleTrace::launches

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};
static_assert(sizeof(DeviceActivity) == 24);

// A runtime or driver call with a correlation; one that launched nothing is kept only if its name
// is that of a launch, or a SyncRow refers to it.
struct LaunchRow {
  static constexpr unsigned kDurationBits = 42;
  // What lasted longer counts as this: 36 minutes.
  static constexpr std::int64_t kLongestNs = (std::int64_t{1} << (kDurationBits - 1)) - 1;

  LaunchRow() = default;
  // No duration is negative.
  LaunchRow(std::int64_t start, std::int64_t duration, NameId of)
      : start_ns(start), name(of), duration_ns(std::min(duration, kLongestNs) & kLongestNs) {}

  std::int64_t start_ns = 0;
  NameId name : kNameBits = NameId{};
  std::int64_t duration_ns : kDurationBits = 0;

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};
static_assert(sizeof(LaunchRow) == 16);

struct AnnotationRow {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  NameId name{};
  bool on_device = false;  // gpu_user_annotation, else user_annotation

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};

struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// One rank's part in an identified collective: process group and number match it with those of
// other ranks.
struct CollectiveRow {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t sequence = 0;  // "Seq": counts the collectives of the group
  NameId group{};

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};

// "ProfilerStep#12" of the host.
struct StepRow {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t number = 0;
  std::int64_t data_wait_ns = 0;  // waits for data inside it

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};

enum class HostKind : std::uint8_t { op, call, annotation, other, count_ };

// An event of a host thread: an operator, a runtime or driver call, an annotation, a Python
// function. Everything with a duration and a category of its own, except "Trace".
struct HostEvent {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  NameId name{};
  std::uint32_t thread = 0;          // by process and thread, numbered in the order of the file
  std::uint32_t launch = kNoLaunch;  // of a call: index into CycleTrace::launches, if it is there
  HostKind kind{};

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};

// A synchronisation as the device saw it: "Stream Sync", "Context Sync", "Event Sync" (the host
// waited), "Stream Wait Event" (a stream did). Profilers write these only on request.
struct SyncRow {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  NameId name{};
  std::int32_t device = 0;
  std::int32_t stream = kNoStream;     // kNoStream: the whole context
  std::int32_t waits_for = kNoStream;  // the stream that was waited for, if known
  // Indices into CycleTrace::launches, kNoLaunch if not in the file.
  std::uint32_t launch = kNoLaunch;        // the call that waited
  std::uint32_t event_record = kNoLaunch;  // the call that recorded the event waited for

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};

// The steps that an analysis of a cycle covers.
enum class StepSelection : std::uint8_t {
  included,      // up to the end of the last step
  without_last,  // HTA's default: launches before the last step begins
  all,           // the whole file
};

struct CycleTrace {
  SubjectId subject = SubjectId::none;  // job, node, rank
  std::int64_t number = 0;              // of this rank's cycles, in the order of its lane
  std::int64_t base_ns = 0;             // what was added to the times in the file
  NameTable names;
  std::vector<DeviceActivity> device;  // by stream, then start
  std::vector<DevicePlace> places;
  std::vector<LaunchRow> launches;
  std::vector<AnnotationRow> annotations;
  std::vector<StepRow> steps;              // by start
  std::vector<CollectiveRow> collectives;  // by start
  // What the host did; each by start.
  std::vector<Interval> data_waits;      // the training thread waited for its next batch
  std::vector<Interval> blocking_calls;  // a runtime call waited for the device
  std::vector<Interval> host_pauses;     // nothing visible to the profiler
  std::int64_t world_size = 0;           // ranks of the job; 0: not known
  std::uint64_t left_out = 0;            // rows beyond a limit

  // Only if an analysis requests them (AnalysisSpec::host_events); otherwise empty.
  std::vector<HostEvent> host;  // by thread, then start, the longer first
  std::vector<SyncRow> syncs;   // by start

  const DevicePlace& place_of(const DeviceActivity& row) const { return places[row.place]; }
  std::int32_t stream_of(const DeviceActivity& row) const { return place_of(row).stream; }
};

// Receives every cycle as it completes. Called on the decoding thread.
class CycleSink {
 public:
  virtual ~CycleSink() = default;
  // The cycle has no number yet.
  virtual void cycle(CycleTrace& cycle) = 0;
  // Whether cycles need CycleTrace::host and syncs.
  virtual bool wants_host_events() const { return false; }
};

}  // namespace trainwatch
