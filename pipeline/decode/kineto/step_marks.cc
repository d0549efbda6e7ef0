// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/kineto/step_marks.h"

#include <algorithm>

#include "pipeline/decode/kineto/cycle_rows.h"
#include "trainwatch/insert_sorted.h"
#include "trainwatch/release_memory.h"

namespace trainwatch {

std::optional<std::int64_t> step_number(std::string_view name) {
  name.remove_prefix(kStepPrefix.size());
  const std::size_t mark = name.find_first_not_of(' ');
  if (mark == std::string_view::npos || name[mark] != '#') return std::nullopt;
  const std::size_t digits = name.find_first_not_of(' ', mark + 1);
  if (digits == std::string_view::npos) return std::nullopt;
  name.remove_prefix(digits);
  return parse_integer(name.substr(0, name.find_first_not_of("0123456789")));
}

bool StepMarks::add(const StepMark& mark) {
  if (marks_.size() >= kMost) return false;
  marks_.push_back(mark);
  return true;
}

ProvisionalCycle StepMarks::provisional() const {
  ProvisionalCycle found;
  for (const StepMark& mark : marks_) {
    if (mark.kind != SpanKind::step) continue;
    ++found.steps_seen;
    insert_sorted(found.steps, {mark.start_ns, mark.duration_ns, mark.step, 0}, &StepRow::start_ns);
    if (found.steps.size() > ProvisionalCycle::kShown) found.steps.pop_back();
  }
  for (const StepMark& mark : marks_) {
    if (mark.kind != SpanKind::data_wait) continue;
    for (StepRow& step : found.steps) {
      const std::int64_t step_end = saturating_add(step.start_ns, step.duration_ns);
      if (mark.start_ns >= step.start_ns && mark.end_ns() <= step_end)
        step.data_wait_ns = saturating_add(step.data_wait_ns, mark.duration_ns);
    }
  }
  return found;
}

// A wait belongs to the step that it lies in; the file itself does not say.
void StepMarks::complete() {
  std::ranges::stable_sort(marks_, {}, &StepMark::start_ns);
  const StepMark* step = nullptr;
  for (StepMark& mark : marks_) {
    if (mark.kind == SpanKind::step) {
      step = &mark;
    } else if (step != nullptr && mark.end_ns() <= step->end_ns()) {
      mark.step = step->step;
    }
  }
}

std::vector<StepRow> StepMarks::steps(std::int64_t base_ns) const {
  std::vector<StepRow> rows;
  for (const StepMark& mark : marks_) {
    if (mark.kind == SpanKind::step) {
      const std::int64_t duration = std::min(mark.duration_ns, kLongestNs);
      rows.push_back({absolute_ns(mark.start_ns, base_ns), duration, mark.step, 0});
    } else if (mark.step != kNoStep && !rows.empty()) {
      rows.back().data_wait_ns = saturating_add(rows.back().data_wait_ns, mark.duration_ns);
    }
  }
  return rows;
}

std::int64_t StepMarks::process() const {
  const auto step = std::ranges::find(marks_, SpanKind::step, &StepMark::kind);
  return step == marks_.end() || step->process < 0 ? kNoProcess : step->process;
}

std::vector<Interval> StepMarks::data_waits() const {
  std::vector<Interval> waits;
  for (const StepMark& mark : marks_) {
    if (mark.kind == SpanKind::data_wait) waits.push_back({mark.start_ns, mark.end_ns()});
  }
  return waits;
}

void StepMarks::take_spans(Span common, std::int64_t base_ns, EventBatch& out) {
  std::ranges::stable_sort(marks_, {}, [](const StepMark& mark) { return mark.end_ns(); });
  for (const StepMark& mark : marks_) {
    common.start = time_from_ns(saturating_add(mark.start_ns, base_ns));
    common.duration = Nanos{mark.duration_ns};
    common.step = mark.step;
    common.name = mark.name;
    common.phase = mark.phase;
    common.process = mark.process;
    common.kind = mark.kind;
    out.push_back(common);
  }
  release_memory(marks_);
}

}  // namespace trainwatch
