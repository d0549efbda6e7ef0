// SPDX-License-Identifier: Apache-2.0
// Builds the CycleTrace of one document while it is read: device activity, launches, annotations.
// Rows beyond a bound are counted in CycleTrace::left_out. A cycle under construction takes at most
// about 60 MiB, about 120 MiB with host events.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/kineto/cycle_rows.h"
#include "pipeline/decode/kineto/event_category.h"
#include "pipeline/decode/kineto/host_events.h"
#include "pipeline/decode/kineto/launch_correlator.h"
#include "pipeline/decode/kineto/profiler_event.h"
#include "trainwatch/cycle_trace.h"
#include "trainwatch/diagnostics.h"

namespace trainwatch {

class CycleBuilder {
 public:
  static constexpr std::size_t kMostDeviceRows = std::size_t{1} << 20U;
  // Also that while rows are linked, each by the row before it.
  static_assert(kMostDeviceRows <= kNoLaunch && kMostDeviceRows <= DeviceActivity::kMostPlaces);
  static constexpr std::size_t kMostAnnotations = std::size_t{1} << 17U;
  static constexpr std::size_t kMostCollectives = std::size_t{1} << 17U;
  static constexpr std::size_t kMostBlockingCalls = std::size_t{1} << 17U;

  // `host_events`: whether to fill CycleTrace::host and syncs.
  explicit CycleBuilder(bool host_events) {
    if (host_events) host_ = std::make_unique<HostEvents>();
  }

  // nullopt: it was taken, or is not part of a cycle.
  std::optional<RejectReason> take(const ProfilerEvent& event);

  std::size_t device_rows() const { return cycle_.device.size(); }
  // About how much memory it takes.
  std::size_t bytes() const;

  // The host was active then, in times as written.
  void host_active(const Interval& active) { activity_.add(active); }

  // No more events will follow. Adds the data waits, adds `base_ns` to all times, and sorts.
  CycleTrace finish(std::int64_t base_ns, std::vector<Interval> data_waits);

 private:
  std::optional<RejectReason> take_row(const ProfilerEvent& event);
  std::optional<RejectReason> add_annotation(const ProfilerEvent& event, const EventTimes& times);
  std::optional<RejectReason> add_activity(const ProfilerEvent& event);
  std::optional<RejectReason> add_call(const ProfilerEvent& event, const EventTimes& times);
  void add_collective(const ProfilerEvent& event, const EventTimes& times);
  std::optional<NameId> name_id(std::string_view name);
  void sort_activities();

  CycleTrace cycle_;
  LaunchCorrelator correlator_;
  HostActivity activity_;
  StringReader strings_;
  CycleNames names_;
  CyclePlaces places_;
  std::unique_ptr<HostEvents> host_;  // null: not asked for
};

}  // namespace trainwatch
