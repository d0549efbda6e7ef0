// SPDX-License-Identifier: Apache-2.0
// What the decoders produce. Events are small, trivially copyable values with interned names and
// integer-nanosecond times; they never own memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "trainwatch/pace.h"
#include "trainwatch/scalar.h"
#include "trainwatch/series.h"
#include "trainwatch/state_io.h"
#include "trainwatch/subject.h"
#include "trainwatch/symbol_table.h"
#include "trainwatch/time.h"

namespace trainwatch {

// What a span is, decided once by the decoder from category, phase and name.
enum class SpanKind : std::uint8_t {
  other,
  step,         // one training step: "Step:ModeKeys.TRAIN", "ProfilerStep#12"
  data_wait,    // the training thread waiting for its next batch
  data_worker,  // a loader worker at work
  data_init,    // construction of a loader iterator
  forward,
  backward,
  optimizer,
  checkpoint,
  garbage_collection,
  communication,
  cpu_op,   // a framework operator on the CPU
  runtime,  // a launch or driver call
  kernel,
  memory_copy,  // device copies and fills
  annotation,   // any other user annotation
  evaluation,   // all of an evaluation between two training steps, its own steps included
  compilation,  // of a function of the training, by torch.compile
  count_,
};

enum class Mode : std::uint8_t { unknown, train, eval, predict, global, count_ };

inline std::string_view to_string(Mode mode) {
  constexpr std::string_view kNames[] = {"unknown", "train", "eval", "predict", "global"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Mode::count_));
  return kNames[static_cast<std::size_t>(mode)];
}

// Which writer measured a span or a step, the best one first. Steps of the same rank from a
// timeline, from a profiler trace and from what the job logs are independent measurements and are
// never mixed in one baseline. Spans have one of the first two.
enum class Origin : std::uint8_t { timeline, profiler, log, count_ };

inline std::string_view to_string(Origin origin) {
  constexpr std::string_view kNames[] = {"timeline", "profiler", "log"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Origin::count_));
  return kNames[static_cast<std::size_t>(origin)];
}

inline constexpr std::int64_t kNoStep = -1;
inline constexpr std::int32_t kNoWorker = -1;
inline constexpr std::int64_t kNoThread = -1;

// Whether a loader pins its memory, if the file says.
enum class PinMemory : std::uint8_t { unknown, no, yes, count_ };

// Something that lasted from `start` for `duration`.
struct Span {
  Time start{};
  Nanos duration{};
  std::int64_t step = kNoStep;
  SubjectId subject = SubjectId::none;  // job, node, rank
  Symbol name = Symbol::none;           // "DataLoaderIter::GetNext"
  Symbol phase = Symbol::none;          // the writer's process name or category
  std::int32_t worker = kNoWorker;      // data-loading worker id
  std::int64_t process = -1;            // operating-system pid, if the file says
  std::int64_t thread = kNoThread;      // if the file says
  SpanKind kind = SpanKind::other;
  Mode mode = Mode::unknown;
  Origin origin = Origin::timeline;
  PinMemory pin_memory = PinMemory::unknown;
  std::int32_t num_workers = kNoWorker;  // of the loader, if the file says
  Symbol layer = Symbol::none;           // what the arguments call it, if they do

  Time end() const { return start + duration; }
  // What SageMaker calls the framework metric.
  Symbol metric() const { return layer == Symbol::none ? name : layer; }
};

// One value of one system-metric series. `value` may be NaN.
struct Sample {
  Time at{};
  double value = 0;
  SeriesId series{};
  Resource resource = Resource::other;  // == series table's, copied for dispatch
};

// One finished training step, and the iteration that it ends: the time since the step before, with
// the wait for its batch and whatever else the loop does between two steps. Derived from spans by
// pipeline/analysis/core/iteration_tracker.
struct Step {
  Time start{};
  Nanos duration{};
  Time begin{};        // of the iteration
  Nanos data_wait{};   // of the iteration: waiting for input
  Nanos evaluation{};  // steps of other modes, and what led to them; not part of the iteration
  std::int64_t number = kNoStep;
  SubjectId subject = SubjectId::none;  // job, node, rank
  Mode mode = Mode::unknown;
  Origin origin = Origin::timeline;
  std::uint32_t steps = 1;     // of a log: the iterations that it is the mean of
  std::uint32_t attempt = 1;   // of the rank: how often its training was started
  std::uint32_t world = 0;     // ranks of the job, as it opens an attempt; 0: not known
  bool opens_attempt = false;  // nothing is known of the time before it; first of its mode
  bool restarts = false;       // the first of all of an attempt that is not the first
  bool estimated = false;      // of a log: nothing says when it ended
  bool weak = false;           // of a log: of an epoch, or of records of which nothing says when
  bool resized = false;        // of a log: its size differs from that of the stage so far
  bool opens_epoch = false;    // numbers begin anew; what came before is no part of the iteration
  // In spans that were read before the step, in all since the step before; zero if not written.
  Nanos forward{};
  Nanos backward{};
  Nanos optimizer{};
  Pace pace{};

  Time end() const { return start + duration; }
  // One iteration, and when it was: of a log, a record of a single step with a time of its own.
  bool is_single() const { return steps == 1 && !estimated; }
  // Not evaluation or prediction.
  bool is_training() const { return mode == Mode::train || mode == Mode::unknown; }
  Nanos iteration() const { return end() - begin - evaluation; }
  // Neither the step nor the wait, which may lie inside the step or before it.
  Nanos between() const { return std::max(iteration() - duration - data_wait, Nanos{}); }
  // In the step, but neither the wait nor one of its phases; zero if the writer lacks any of them.
  Nanos outside_phases() const {
    if (forward == Nanos{} || backward == Nanos{} || optimizer == Nanos{}) return Nanos{};
    const Nanos known = data_wait + between() + forward + backward + optimizer;
    return std::max(iteration() - known, Nanos{});
  }

  void state(StateIo& io) {
    io(start);
    io(duration);
    io(begin);
    io(data_wait);
    io(evaluation);
    io(number);
    io(subject);
    io(mode);
    io(origin);
    io(steps);
    io(attempt);
    io(world);
    io(opens_attempt);
    io(restarts);
    io(estimated);
    io(weak);
    io(resized);
    io(opens_epoch);
    io(forward);
    io(backward);
    io(optimizer);
    io(pace);
    if (mode >= Mode::count_ || origin >= Origin::count_ || steps == 0) io.fail();
  }
};

// A stream of files that one writer writes one after another: a node's system metrics, a rank's
// timeline, one profiler worker's traces. Order is meaningful within a lane and nowhere else.
enum class LaneId : std::uint32_t {};

// Something about the source itself that rules and analyses must know.
struct SourceNote {
  enum class Kind : std::uint8_t {
    cycle_complete,    // a profiler file is complete; all its spans came before
    timeline_closed,   // its writer closed a timeline: the end of the training, or of the file;
                       // or a log says that the training has ended
    timeline_goes_on,  // in another file, after it was closed. Made by the engine
    run_note,          // stands for a RunNote (run_note.h)
    process_gone,      // the writer of a timeline no longer exists. Made by the engine
  };
  Time at{};
  LaneId lane{};
  Kind kind{};
  SubjectId subject = SubjectId::none;  // of a timeline
  std::uint64_t number = 0;             // of a run_note
};

// A silence longer than this is the end of a training, not a stall.
inline constexpr Nanos kGoneAfter = std::chrono::hours(24);

// Processing time, about once a second. Only absence rules may use it.
struct Tick {
  Time now{};
};
struct TickResult {
  bool changed = false;  // the state
  Time next{};  // needs no tick before this time, unless an event or a checkpoint comes first
};

using Event = std::variant<Span, Sample, SourceNote, Scalar>;
static_assert(std::is_trivially_copyable_v<Event>);

// Reused between calls, so that decoding allocates nothing in steady state.
using EventBatch = std::vector<Event>;

}  // namespace trainwatch
