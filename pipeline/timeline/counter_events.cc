// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/counter_events.h"

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "pipeline/cycle/launches.h"
#include "pipeline/cycle/memory_bandwidth.h"
#include "pipeline/cycle/step_selection.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

using EmitEvent = std::function<void(std::string_view)>;

constexpr std::string_view kQueueLength = "Queue Length";
constexpr std::string_view kBandwidth = "Memcpy BW";

// Streams of one number on two devices have one track each.
std::map<std::int32_t, std::vector<std::uint32_t>> by_device(const SelectedCycle& selected) {
  std::map<std::int32_t, std::vector<std::uint32_t>> devices;
  const CycleTrace& cycle = selected.cycle();
  for (const std::uint32_t row : selected.rows())
    devices[cycle.place_of(cycle.device[row]).device].push_back(row);
  return devices;
}

// One track: all but the time and the value of its events is the same.
class Track {
 public:
  template <class Id>
  Track(std::string_view name, std::int32_t device, const Id& id, std::int64_t base_ns)
      : base_ns_(base_ns) {
    JsonWriter json;
    json.begin_object().field("ph", "C").field("name", name).field("pid", device).field("id", id);
    begin_ = json.take() + ",\"ts\":";
    JsonWriter args;
    args.begin_object().key(name);
    middle_ = ",\"args\":" + args.take();
  }

  template <class Value>
  void emit(std::int64_t at_ns, Value value, const EmitEvent& event) {
    JsonWriter number;
    number.value(value);
    text_.assign(begin_).append(micros_text(at_ns - base_ns_)).append(middle_);
    text_.append(number.text()).append("}}");
    event(text_);
  }

 private:
  std::int64_t base_ns_;
  std::string begin_;
  std::string middle_;
  std::string text_;  // reused
};

}  // namespace

std::string micros_text(std::int64_t ns) {
  const bool negative = ns < 0;
  const auto size =
      negative ? std::uint64_t{0} - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  std::string text = (negative ? "-" : "") + std::to_string(size / 1000);
  if (size % 1000 == 0) return text;
  const std::string fraction = std::to_string(size % 1000);
  return text.append(1, '.').append(3 - fraction.size(), '0').append(fraction);
}

void emit_counters(const CycleTrace& cycle, StepSelection steps, const EmitEvent& event) {
  const SelectedCycle selected(cycle, steps);
  for (const auto& [device, rows] : by_device(selected)) {
    for (QueueSweep sweep(cycle, rows); sweep.next_stream();) {
      Track track(kQueueLength, device, sweep.stream(), cycle.base_ns);
      for (QueueChange change; sweep.next(change);) {
        track.emit(change.at_ns, change.length, event);
      }
    }
    for (const CopyBandwidth& copies : memory_bandwidth(cycle, rows)) {
      Track track(kBandwidth, device, copies.kind, cycle.base_ns);
      for (const BandwidthChange& change : copies.changes)
        track.emit(change.at_ns, change.gbps, event);
    }
  }
}

}  // namespace trainwatch
