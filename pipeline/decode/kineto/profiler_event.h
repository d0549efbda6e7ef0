// SPDX-License-Identifier: Apache-2.0
// One event of a profiler trace as raw tokens, as far as anybody reads it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "pipeline/decode/kineto/event_category.h"
#include "pipeline/decode/record_layouts.h"

namespace trainwatch {

class ProfilerEvent {
 public:
  enum class Member : std::uint8_t {
    none,  // nobody reads it
    type,  // "ph"
    category,
    name,
    ts,
    dur,
    pid,
    tid,
    // Of "args":
    stream,
    stream_id,  // used if there is no stream
    device,
    correlation,
    bandwidth,
    group,
    group_description,
    sequence,
    waits_for,     // wait_on_stream
    event_record,  // wait_on_cuda_event_record_corr_id
    count_
  };

  // What is made of the events of a document.
  struct Wanted {
    bool cycles = false;
    bool host_events = false;  // of cycles
  };

  explicit ProfilerEvent(Wanted wanted) : wanted_(wanted) {}

  // Becomes a new event. The tokens of the one before stay, unread.
  void begin() {
    kind_ = EventCategory::other;
    taken_ = 0;
    needed_ = kAll;
  }

  // Absent members are empty. Strings keep their quotes.
  std::string_view operator[](Member member) const {
    return has(member) ? tokens_[static_cast<std::size_t>(member)] : std::string_view{};
  }
  EventCategory kind() const { return kind_; }
  bool has(Member member) const { return (taken_ & bit(member)) != 0; }
  // "ph" says that it has no duration.
  bool is_other_type() const { return has(Member::type) && (*this)[Member::type] != "\"X\""; }
  bool is_step_or_wait() const;

  // True: nobody needs more of the event.
  bool take(Member member, std::string_view value) {
    if (member == Member::stream_id) {
      if (has(Member::stream)) return false;
      member = Member::stream;
    }
    tokens_[static_cast<std::size_t>(member)] = value;
    taken_ |= bit(member);
    if (member == Member::type && is_other_type()) needed_ = 0;
    if (member == Member::category) kind_ = event_category(value);
    if (member == Member::category || member == Member::name) decide();
    return (taken_ & needed_) == needed_;
  }

 private:
  using Members = std::uint32_t;  // a bit for each

  static constexpr Members bit(Member member) {
    return Members{1} << static_cast<unsigned>(member);
  }
  static constexpr Members kAll = ~Members{0};  // none is ever the last that is needed

  void decide();
  Members needed_by_cycle() const;
  Members needed_by_host_events() const;

  Wanted wanted_;
  EventCategory kind_ = EventCategory::other;
  Members taken_ = 0;
  Members needed_ = kAll;
  std::array<std::string_view, static_cast<std::size_t>(Member::count_)> tokens_{};
};

// Reads the events of one document. It does not check what it does not read: a record may be broken
// after its last needed member.
class ProfilerEventReader {
 public:
  // `event` becomes what is read. False: the record is broken.
  bool read(std::string_view record, ProfilerEvent& event);

 private:
  RecordLayouts<ProfilerEvent> layouts_;
};

}  // namespace trainwatch
