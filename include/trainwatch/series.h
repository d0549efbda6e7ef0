// A series is one measured quantity of one device of one node: "CPUUtilization of cpu3 on algo-1".
// System-metric samples carry a dense SeriesId; what the series is, is looked up here.
#pragma once

#include <cassert>
#include <cstdint>
#include <deque>

#include "trainwatch/state_io.h"
#include "trainwatch/subject.h"
#include "trainwatch/symbol_table.h"

namespace trainwatch {

// The quantities that rules and metrics know. `other` is kept and counted, and nothing reads it.
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

// Dense and append-only; the decoder that finds a new series adds it. Bounded by max_series.
class SeriesTable {
 public:
  explicit SeriesTable(std::size_t max_series = 10000) : max_series_(max_series) {}

  bool full() const { return all_.size() >= max_series_; }
  SeriesId add(const Series& series) {
    assert(!full());
    all_.push_back(series);
    return static_cast<SeriesId>(all_.size() - 1);
  }
  const Series& operator[](SeriesId id) const { return all_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return all_.size(); }
  std::size_t limit() const { return max_series_; }

  // Ids keep their numbers: other saved state refers to them.
  void state(StateIo& io) { io(all_); }

 private:
  std::size_t max_series_;
  std::deque<Series> all_;
};

}  // namespace trainwatch
