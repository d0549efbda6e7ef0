// SPDX-License-Identifier: Apache-2.0
// A series is one measured quantity of one device of one node: "CPUUtilization of cpu3 on algo-1".
// System-metric samples carry a dense SeriesId; what the series is, is looked up here.
#pragma once

#include <cassert>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "trainwatch/state_io.h"
#include "trainwatch/subject.h"
#include "trainwatch/symbol_table.h"

namespace trainwatch {

// The quantities that rules and metrics know. `other` is kept and counted, but not used.
enum class Resource : std::uint8_t {
  other,
  cpu_utilization,         // percent of one core, 0..100
  cpu_io_wait,             // percent of one core
  gpu_utilization,         // percent
  gpu_memory_utilization,  // percent (SageMaker's definition: of capacity)
  memory_used,             // percent of the node's memory
  io_operations,           // 1/s
  io_read,                 // bytes/s
  io_write,                // bytes/s
  network_receive,         // bytes/s
  network_transmit,        // bytes/s
  gpu_sm_clock,            // MHz
  gpu_memory_clock,        // MHz
  gpu_throttle_reasons,    // bits: nvmlClocksEventReasons of nvml.h
  gpu_temperature,         // degrees Celsius
  gpu_power,               // watts
  gpu_ecc_errors,          // uncorrected, since the driver was loaded
  gpu_xid,                 // the number of the last critical error; 0: none
  cpu_pressure_some,       // percent of the time in which some task waited for it (PSI)
  cpu_pressure_full,       // ... in which all did
  io_pressure_some,
  io_pressure_full,
  memory_pressure_some,
  memory_pressure_full,
  cgroup_throttled,    // percent of the periods in which the cgroup's CPU quota was used up
  cgroup_memory_used,  // percent of the cgroup's limit
  cgroup_io_read,      // bytes/s
  cgroup_io_write,     // bytes/s
  count_,
};

enum class SeriesId : std::uint32_t {};

struct Series {
  SubjectId subject = SubjectId::none;  // job and node; gpu as well for GPU series
  Resource resource = Resource::other;
  std::uint32_t device = 0;         // "cpu12" -> 12, "gpu0" -> 0
  Symbol type = Symbol::none;       // as the file spells it: cpu, gpu, memory, i/o, network
  Symbol name = Symbol::none;       // cpu12
  Symbol dimension = Symbol::none;  // CPUUtilization
};

// Dense and append-only; the decoder that finds a new series adds it. Subject, type, name and
// dimension identify a series. Bounded, and divided among those who fill it: a sample of a series
// without room has no id and must be rejected; `dropped()` counts.
class SeriesTable {
 public:
  explicit SeriesTable(std::size_t max_series = 1U << 18U) : max_series_(max_series) {}

  // The id of the series, which is added if new. nullopt: there is no room.
  std::optional<SeriesId> intern(const Series& series) {
    if (const auto known = ids_.find(Key{series}); known != ids_.end()) return known->second;
    if (shares_.may_take({1}, {all_.size()}, {max_series_})) return add(series, shares_.holder());
    shares_.refuse();
    return std::nullopt;
  }
  // `series` was `id` of `old`: for whoever held that, even if it is more than its share by now.
  SeriesId adopt(const SeriesTable& old, SeriesId id, const Series& series) {
    const auto known = ids_.find(Key{series});
    return known != ids_.end() ? known->second
                               : add(series, old.shares_.holder_of(static_cast<std::size_t>(id)));
  }
  const Series& operator[](SeriesId id) const { return all_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return all_.size(); }
  std::uint64_t dropped() const { return shares_.refused(); }
  // For whom series are interned from now on.
  void set_holder(Holder holder) { shares_.set_holder(holder); }
  void set_limit(std::size_t max_series) { max_series_ = max_series; }
  std::size_t limit() const { return max_series_; }
  // With the limit and the counts of this one, and no series.
  SeriesTable emptied() const {
    SeriesTable empty(max_series_);
    empty.shares_.keep_refused(shares_);
    return empty;
  }

  // Ids keep their numbers: other saved state refers to them.
  void state(StateIo& io) {
    io(all_);
    shares_.state(io, all_.size());
    if (!io.is_loading()) return;
    ids_.clear();
    for (std::size_t i = 0; i < all_.size(); ++i) {
      ids_.emplace(Key{all_[i]}, static_cast<SeriesId>(i));
    }
  }

 private:
  struct Key {
    explicit Key(const Series& series)
        : low(pack(series.type, series.name)),
          high((static_cast<std::uint64_t>(series.dimension) << 32U) |
               static_cast<std::uint64_t>(series.subject)) {}
    static std::uint64_t pack(Symbol a, Symbol b) {
      return (static_cast<std::uint64_t>(a) << 32U) | static_cast<std::uint64_t>(b);
    }
    bool operator==(const Key&) const = default;
    std::uint64_t low;
    std::uint64_t high;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      const std::uint64_t mixed = (key.low ^ (key.high << 7U)) * 0x9E3779B97F4A7C15ULL;
      return mixed ^ ((key.high + mixed) >> 29U);
    }
  };

  SeriesId add(const Series& series, Holder holder) {
    all_.push_back(series);
    shares_.add(holder);
    const auto id = static_cast<SeriesId>(all_.size() - 1);
    ids_.emplace(Key{series}, id);
    return id;
  }

  std::size_t max_series_;
  Shares shares_;
  std::deque<Series> all_;
  std::unordered_map<Key, SeriesId, KeyHash> ids_;
};

}  // namespace trainwatch
