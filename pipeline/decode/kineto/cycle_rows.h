// SPDX-License-Identifier: Apache-2.0
// What the rows of a cycle are made with while its document is read: names, times, and memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/kineto/event_category.h"
#include "trainwatch/cycle_trace.h"
#include "trainwatch/name_table.h"

namespace trainwatch {

// The names of one cycle, within a bound, each with what it says about the event.
class CycleNames {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20U;
  static constexpr std::size_t kOfName = 64;  // beside its text
  static_assert(kMostBytes / kOfName < (1U << kNameBits));

  // nullopt: there is no room for another name.
  std::optional<NameId> intern(std::string_view name) {
    if (const auto known = names_.find(name)) return known;
    if (bytes_ + name.size() + kOfName > kMostBytes) return std::nullopt;
    bytes_ += name.size() + kOfName;
    facts_.push_back({activity_class(name), is_launch(name), is_blocking(name)});
    return names_.intern(name);
  }
  ActivityClass class_of(NameId name) const {
    return facts_[static_cast<std::size_t>(name)].activity_class;
  }
  // Whether a call of this name launches device activity.
  bool launches(NameId name) const { return facts_[static_cast<std::size_t>(name)].launches; }

  // Whether a call of this name waits for a device.
  bool blocks(NameId name) const { return facts_[static_cast<std::size_t>(name)].blocks; }

  NameTable take() { return std::move(names_); }

  // About how much memory they take.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Facts {
    ActivityClass activity_class{};
    bool launches = false;
    bool blocks = false;
  };

  NameTable names_;
  std::size_t bytes_ = 0;
  std::vector<Facts> facts_;  // by NameId
};

// The places of one cycle.
class CyclePlaces {
 public:
  // The index of a place in those that take() returns.
  std::size_t add(const DevicePlace& place) {
    if (place.memory_gbps != 0) return append(place);
    const StreamOfDevice wanted{place.stream, place.device};
    if (!known_.empty() && wanted == latest_) return latest_index_;
    latest_ = wanted;
    const auto [known, is_new] = known_.try_emplace(wanted, places_.size());
    if (is_new) append(place);
    return latest_index_ = known->second;
  }

  std::vector<DevicePlace> take() { return std::move(places_); }

  std::size_t bytes() const {
    constexpr std::size_t kOfNode = 64;
    return places_.size() * sizeof(DevicePlace) + known_.size() * kOfNode;
  }

 private:
  using StreamOfDevice = std::pair<std::int32_t, std::int32_t>;

  std::size_t append(const DevicePlace& place) {
    places_.push_back(place);
    return places_.size() - 1;
  }

  std::vector<DevicePlace> places_;
  std::map<StreamOfDevice, std::size_t> known_;  // those without a bandwidth
  StreamOfDevice latest_;                        // activities of a stream follow each other
  std::size_t latest_index_ = 0;
};

// CUPTI sometimes writes durations of centuries. HTA has the same limit, a week.
inline constexpr std::int64_t kLongestNs = 604'800'000'000'000;
static_assert(kLongestNs <= DeviceActivity::kLongestNs);

struct EventTimes {
  std::int64_t start_ns = 0;  // as written
  std::int64_t duration_ns = 0;
};

// From "ts" and "dur" in microseconds. nullopt: the event is broken.
inline std::optional<EventTimes> event_times(std::string_view ts, std::string_view dur) {
  const auto start = parse_time_ns(ts, TimeUnit::microseconds);
  const auto duration = parse_time_ns(dur, TimeUnit::microseconds);
  if (!start || !duration || *duration > kLongestNs) return std::nullopt;
  return EventTimes{*start,
                    std::max<std::int64_t>(*duration, 0)};  // as the writer itself clamps it
}

// Converts file time to Unix time, clamped so that ends cannot overflow.
inline std::int64_t absolute_ns(std::int64_t ns, std::int64_t base_ns) {
  constexpr std::int64_t kFar = std::int64_t{1} << 62U;
  return std::clamp(saturating_add(ns, base_ns), -kFar, kFar);
}

// From this size on a vector of rows reserves its whole address space, of which only what is used
// becomes memory. Growing by copies would need up to twice the memory.
inline constexpr std::size_t kManyRows = std::size_t{1} << 16U;

template <class Row>
void make_room(std::vector<Row>& rows, std::size_t most) {
  if (rows.size() == kManyRows && rows.capacity() < most) rows.reserve(most);
}

}  // namespace trainwatch
