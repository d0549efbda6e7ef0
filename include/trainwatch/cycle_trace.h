// One cycle of a profiler (one Kineto trace file), reduced to what the GPU analyses read: rows of
// device activity, the runtime calls that launched it, and annotations. Operators, arguments and
// all other events are not kept, so a cycle takes some 50 bytes per kernel; only analyses of
// finished files may ask for the events of the host as well.
//
// A value: the decoder fills it while the document is read, and passes it on once the document is
// complete, when rank and time base are known. Nothing of it outlives the call that receives it.
#pragma once

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

// From the category; older names count as their newer equivalents.
enum class DeviceKind : std::uint8_t { kernel, memory_copy, memory_set, sync, accelerator, count_ };

// The purpose of a device activity, by HTA 0.6.1's patterns for names, with ncclDevKernel_* counted
// as communication.
enum class ActivityClass : std::uint8_t { computation, communication, memory, other, count_ };

// An activity on a stream of a device.
struct DeviceActivity {
  std::int64_t start_ns = 0;  // since the epoch, once the cycle is complete
  std::int64_t duration_ns = 0;
  NameId name{};
  std::uint32_t launch = kNoRow;  // index into CycleTrace::launches
  std::int32_t stream = kNoStream;
  std::int32_t device = 0;
  float memory_gbps = 0;  // of copies and fills, where the file says
  DeviceKind kind{};
  ActivityClass activity_class{};

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};

// A runtime or driver call with a correlation; one that launched nothing is kept only if its name
// is that of a launch, or a SyncRow refers to it.
struct LaunchRow {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  NameId name{};
  std::uint32_t rows = 0;  // how many activities it launched; a graph launches many

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};

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
  std::uint32_t thread = 0;       // by process and thread, numbered in the order of the file
  std::uint32_t launch = kNoRow;  // of a call: index into CycleTrace::launches, if it is there
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
  // Indices into CycleTrace::launches, kNoRow if not in the file.
  std::uint32_t launch = kNoRow;        // the call that waited
  std::uint32_t event_record = kNoRow;  // the call that recorded the event waited for

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
