// SPDX-License-Identifier: Apache-2.0
// Records of a timeline, one a line: one that is recognised as a whole says what its keys say.
#include "pipeline/decode/recurring_spans.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.h"
#include "pipeline/decode/decimal_time.h"

namespace trainwatch::fuzz {
namespace {

// What a record says besides its times and its step.
std::int64_t print_of_others(const TraceEvent& event) {
  std::string all;
  for (const auto member :
       {&TraceEvent::phase, &TraceEvent::name, &TraceEvent::pid, &TraceEvent::tid,
        &TraceEvent::category, &TraceEvent::args_name, &TraceEvent::args_layer_name,
        &TraceEvent::args_pid, &TraceEvent::args_tid, &TraceEvent::thread_id,
        &TraceEvent::worker_id, &TraceEvent::num_workers, &TraceEvent::pin_memory,
        &TraceEvent::start_time_us}) {
    all.append(event.*member).push_back('\n');
  }
  return static_cast<std::int64_t>(std::hash<std::string>{}(all));
}

// By the keys. nullopt: it is not one that may be learned.
std::optional<Span> span_of(const TraceEvent& event) {
  const auto start = parse_time_ns(event.ts, TimeUnit::microseconds);
  const auto duration = parse_time_ns(event.dur, TimeUnit::microseconds);
  if (!start || !duration || *duration < 0) return std::nullopt;
  Span span;
  span.start = time_from_ns(*start);
  span.duration = Nanos{*duration};
  span.step = integer_or(event.step_num, kNoStep);
  span.process = print_of_others(event);
  return span;
}

}  // namespace

void recognise_spans(std::string_view input) {
  RecurringSpans spans;
  while (!input.empty()) {
    const std::string_view record = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(record.size() + 1, input.size()));
    TraceEvent event;
    const bool good = TraceEventReader{}.read(record, event);
    const std::optional<Span> said = good ? span_of(event) : std::nullopt;
    RecurringSpans::Times times;
    if (const Span* const known = spans.read(record, times)) {
      expect(said.has_value(), "a recognised record is good");
      expect(to_ns(said->start) == times.start_ns, "it starts when its keys say");
      expect(said->duration.count() == times.duration_ns, "it lasts as long as its keys say");
      expect(said->step == known->step, "it is of the step that its keys say");
      expect(said->process == known->process, "the others are equal");
    } else if (said) {
      spans.learn(record, event, *said);
    }
  }
}

}  // namespace trainwatch::fuzz
