// The steps and the waits for data in one profiler's document, held until it is complete: rank and
// time base may be its last members, and only then is it known which step a wait lies in.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/decoder.h"
#include "trainwatch/cycle_trace.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

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
  // More steps and waits than this in one cycle are a mistake in the profiler's schedule.
  static constexpr std::size_t kMost = std::size_t{1} << 18U;

  // False: there are too many.
  bool add(const StepMark& mark);

  // What is there so far.
  ProvisionalCycle provisional() const;

  // Nothing follows: puts them in order, and waits into their steps. Before the rest.
  void complete();
  std::vector<StepRow> steps(std::int64_t base_ns) const;
  std::vector<Interval> data_waits() const;  // as written
  // Appends the spans, which are like `common` but for what a mark says, in the order of their
  // ends, as a writer would tell them live. Nothing is left here.
  void take_spans(Span common, std::int64_t base_ns, EventBatch& out);

  void state(StateIo& io) { io(marks_); }

 private:
  std::vector<StepMark> marks_;
};

}  // namespace trainwatch
