// SPDX-License-Identifier: Apache-2.0
// The steps and data waits of one profiler document, held until it is complete: rank and time base
// may be its last members, and only then is it known which step a wait belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/decoder.h"
#include "trainwatch/cycle_trace.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// How the names of steps and of waits for data begin.
inline constexpr std::string_view kStepPrefix = "ProfilerStep";
inline constexpr std::string_view kDataWaitPrefix = "enumerate(DataLoader)#";

// Of "ProfilerStep#12", also with spaces around the '#'. `name` begins with kStepPrefix.
std::optional<std::int64_t> step_number(std::string_view name);

struct StepMark {
  std::int64_t start_ns = 0;  // as written
  std::int64_t duration_ns = 0;
  std::int64_t step = kNoStep;
  std::int64_t process = -1;
  Symbol name{};
  Symbol phase{};
  SpanKind kind{};  // step or data_wait

  std::int64_t end_ns() const { return saturating_add(start_ns, duration_ns); }
};

class StepMarks {
 public:
  // More than this in one cycle is a mistake in the profiler's schedule.
  static constexpr std::size_t kMost = std::size_t{1} << 14U;

  // False if there are too many.
  bool add(const StepMark& mark);

  // What has been read so far.
  ProvisionalCycle provisional() const;

  // No more will follow: sorts them and assigns waits to steps. Call before the functions below.
  void complete();
  std::vector<StepRow> steps(std::int64_t base_ns) const;
  std::int64_t process() const;              // of the first step; kNoProcess: unknown
  std::vector<Interval> data_waits() const;  // as written
  // Appends the spans in the order of their ends, as a live writer would emit them, and forgets
  // them. They are like `common` in everything that a mark does not say.
  void take_spans(Span common, std::int64_t base_ns, EventBatch& out);

  void state(StateIo& io) { io(marks_); }

 private:
  std::vector<StepMark> marks_;
};

}  // namespace trainwatch
