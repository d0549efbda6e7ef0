// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/kineto/profiler_event.h"

#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/kineto/step_marks.h"

namespace trainwatch {
namespace {

using Member = ProfilerEvent::Member;

Member argument(std::string_view key) {
  if (key == "stream") return Member::stream;
  if (key == "stream_id") return Member::stream_id;
  if (key == "device") return Member::device;
  if (key == "correlation") return Member::correlation;
  if (key == "memory bandwidth (GB/s)") return Member::bandwidth;
  if (key == "Process Group Name") return Member::group;
  if (key == "Process Group Description") return Member::group_description;
  if (key == "Seq") return Member::sequence;
  if (key == "wait_on_stream") return Member::waits_for;
  return key == "wait_on_cuda_event_record_corr_id" ? Member::event_record : Member::none;
}

Member member(std::string_view key) {
  if (key == "ph") return Member::type;
  if (key == "cat") return Member::category;
  if (key == "name") return Member::name;
  if (key == "ts") return Member::ts;
  if (key == "dur") return Member::dur;
  if (key == "pid") return Member::pid;
  return key == "tid" ? Member::tid : Member::none;
}

}  // namespace

bool ProfilerEvent::is_step_or_wait() const {
  const std::string_view name = between_quotes((*this)[Member::name]);
  return name.starts_with(kStepPrefix) || name.starts_with(kDataWaitPrefix);
}

// Called when the category or the name becomes known, whichever comes first in the record.
void ProfilerEvent::decide() {
  if (!has(Member::category) || is_other_type()) return;
  const bool host = kind_ == EventCategory::host;
  const bool may_be_step = host || kind_ == EventCategory::annotation;
  needed_ = may_be_step ? bit(Member::name) : 0;
  if (may_be_step && is_step_or_wait()) needed_ = kAll;  // checked to its end
  if (wanted_.cycles && host) needed_ |= bit(Member::ts) | bit(Member::dur);
  if (wanted_.cycles) needed_ |= needed_by_cycle();
  if (wanted_.host_events) needed_ |= needed_by_host_events();
}

// Kernels have many arguments behind those that are needed.
ProfilerEvent::Members ProfilerEvent::needed_by_cycle() const {
  if (!is_for_cycles(kind_)) return 0;
  const Members span = bit(Member::name) | bit(Member::ts) | bit(Member::dur);
  if (kind_ == EventCategory::call) return span | bit(Member::correlation);
  if (!is_device_activity(kind_)) return span;
  const Members activity =
      span | bit(Member::correlation) | bit(Member::device) | bit(Member::stream);
  if (between_quotes((*this)[Member::name]).starts_with("nccl")) {
    return activity | bit(Member::group) | bit(Member::group_description) | bit(Member::sequence);
  }
  const bool memory = kind_ == EventCategory::memory_copy || kind_ == EventCategory::memory_set;
  return memory ? activity | bit(Member::bandwidth) : activity;
}

ProfilerEvent::Members ProfilerEvent::needed_by_host_events() const {
  if (kind_ == EventCategory::sync) return kAll;  // most of its arguments may be missing
  if (kind_ == EventCategory::device_annotation || is_device_activity(kind_)) return 0;
  const Members row =
      bit(Member::name) | bit(Member::ts) | bit(Member::dur) | bit(Member::pid) | bit(Member::tid);
  return kind_ == EventCategory::call ? row | bit(Member::correlation) : row;
}

bool ProfilerEventReader::read(std::string_view record, ProfilerEvent& event) {
  event.begin();
  if (layouts_.read(record, event)) return true;
  event.begin();
  return layouts_.read_by_key(record, event, member, argument);
}

}  // namespace trainwatch
