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

// From the category; where a file has older names for it, as the newer one.
enum class DeviceKind : std::uint8_t { kernel, memory_copy, memory_set, sync, accelerator, count_ };

// What device work is for, by the patterns for names that HTA 0.6.1 uses, with ncclDevKernel_*
// counted as communication.
enum class ActivityClass : std::uint8_t { computation, communication, memory, other, count_ };

// Work on a device's stream.
struct DeviceActivity {
  std::int64_t start_ns = 0;  // since the epoch, once the cycle is complete
  std::int64_t duration_ns = 0;
  NameId name{};
  std::uint32_t launch = kNoRow;  // index into CycleTrace::launches
  std::int32_t stream = kNoStream;
  std::int32_t device = 0;
  float memory_gbps = 0;  // of copies and fills, where the file says
  DeviceKind kind{};
  ActivityClass work{};

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};

// A runtime or driver call with a correlation; those that launched nothing are kept only if their
// name says that they launch, or a SyncRow names them.
struct LaunchRow {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  NameId name{};
  std::uint32_t rows = 0;  // how much device work it launched; a graph launches many

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

// One rank's part in a collective whose writer says which one it was: with the process group and
// the number it is matched with those of other ranks.
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

// An event of a thread of the host: an operator, a runtime or driver call, an annotation, a Python
// function. Whatever has a duration and a category of its own, but "Trace".
struct HostEvent {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  NameId name{};
  std::uint32_t thread = 0;       // by process and thread, numbered in the order of the file
  std::uint32_t launch = kNoRow;  // of a call: index into CycleTrace::launches, where it is there
  HostKind kind{};

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};

// A synchronisation as the device saw it: "Stream Sync", "Context Sync", "Event Sync" (the host
// waited), "Stream Wait Event" (a stream did). Only profilers that are asked for them write these.
struct SyncRow {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  NameId name{};
  std::int32_t device = 0;
  std::int32_t stream = kNoStream;     // kNoStream: the whole context
  std::int32_t waits_for = kNoStream;  // the stream that was waited for, where the file says
  // Indices into CycleTrace::launches, kNoRow where the file does not have them.
  std::uint32_t launch = kNoRow;        // the call that waited
  std::uint32_t event_record = kNoRow;  // the call that recorded the event waited for

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};

// Which steps an analysis of a cycle is about.
enum class StepSelection : std::uint8_t {
  included,      // up to the end of the last step
  without_last,  // HTA's default: launches before the last step begins
  all,           // the whole file
};

struct CycleTrace {
  SubjectId subject = SubjectId::none;  // job, node, rank
  std::int64_t number = 0;              // of this rank's cycles, in the order of its lane
  std::int64_t base_ns = 0;             // what was added to the times that the file has
  NameTable names;
  std::vector<DeviceActivity> device;  // by stream, then start
  std::vector<LaunchRow> launches;
  std::vector<AnnotationRow> annotations;
  std::vector<StepRow> steps;              // by start
  std::vector<CollectiveRow> collectives;  // by start
  // What the host did; each by start.
  std::vector<Interval> data_waits;      // the training thread waited for its next batch
  std::vector<Interval> blocking_calls;  // a runtime call waited for the device
  std::vector<Interval> host_pauses;     // nothing that the profiler saw
  std::int64_t world_size = 0;           // ranks of the job; 0: nothing says it
  std::uint64_t left_out = 0;            // rows beyond a bound

  // Only where an analysis asks for them (AnalysisSpec::host_events); else they are empty.
  std::vector<HostEvent> host;  // by thread, then start, the longer first
  std::vector<SyncRow> syncs;   // by start
};

// Gets every cycle as it completes. Called on the thread that decodes.
class CycleSink {
 public:
  virtual ~CycleSink() = default;
  // The cycle has no number yet.
  virtual void cycle(CycleTrace& cycle) = 0;
  // Whether cycles are to have CycleTrace::host and syncs.
  virtual bool wants_host_events() const { return false; }
};

}  // namespace trainwatch
