// Fills the CycleTrace of one document while it is read: device work, launches and annotations.
// Rows beyond a bound are counted in CycleTrace::left_out; with the bounds as they are a cycle is
// at most some 100 MiB while it is built, and some 300 MiB with the events of the host.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "pipeline/decode/cycle_names.h"
#include "pipeline/decode/event_category.h"
#include "pipeline/decode/host_activity.h"
#include "pipeline/decode/host_rows.h"
#include "pipeline/decode/json_text.h"
#include "pipeline/decode/launch_links.h"
#include "trainwatch/cycle_trace.h"
#include "trainwatch/diagnostics.h"

namespace trainwatch {

class CycleBuilder {
 public:
  static constexpr std::size_t kMostDeviceRows = std::size_t{1} << 20U;
  static constexpr std::size_t kMostAnnotations = std::size_t{1} << 17U;
  static constexpr std::size_t kMostCollectives = std::size_t{1} << 17U;
  static constexpr std::size_t kMostBlockingCalls = std::size_t{1} << 17U;

  // `host_rows`: with CycleTrace::host and syncs.
  explicit CycleBuilder(bool host_rows) {
    if (host_rows) host_ = std::make_unique<HostRows>();
  }

  // One event of this category, whole. nullopt: it was taken, or is none for a cycle.
  std::optional<RejectReason> take(EventCategory category, std::string_view event);

  std::size_t device_rows() const { return cycle_.device.size(); }

  // The host did something then, in times as written.
  void host_active(const Interval& active) { activity_.add(active); }

  // All events were taken, and these waits for data. Adds `base_ns` to all times and sorts them.
  CycleTrace finish(std::int64_t base_ns, std::vector<Interval> data_waits);

 private:
  struct Tokens;

  std::optional<RejectReason> take_row(EventCategory category, std::string_view event);
  std::optional<RejectReason> device_row(EventCategory category, Tokens& tokens);
  std::optional<RejectReason> call(Tokens& tokens);
  void collective(const Tokens& tokens);
  std::optional<NameId> name_id(std::string_view name);

  CycleTrace cycle_;
  LaunchLinks links_;
  HostActivity activity_;
  StringReader strings_;
  CycleNames names_;
  std::unique_ptr<HostRows> host_;  // null: nobody asks for them
};

}  // namespace trainwatch
