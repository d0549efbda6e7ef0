// SPDX-License-Identifier: Apache-2.0
// Sorts the events of a timeline by their start, those of one start as they came, in bounded
// memory: what does not fit goes in sorted runs to a store, and the runs are merged at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/timeline/timeline_event.h"
#include "trainwatch/result.h"

namespace trainwatch {

// Where sorted runs wait: bytes that are appended and read back.
class RunStore {
 public:
  virtual ~RunStore() = default;
  virtual Status append(std::string_view bytes) = 0;
  // Fills the whole buffer from what was appended before.
  virtual Status read(std::uint64_t offset, std::span<char> buffer) = 0;
  // These bytes are not read again.
  virtual void forget(std::uint64_t offset, std::uint64_t size) = 0;
};

class EventOrder final : public TimelineSink {
 public:
  static constexpr std::size_t kMemory = std::size_t{32} << 20U;
  // So many runs of one size are merged into one, and are read with so many buffers.
  static constexpr std::size_t kMostRuns = 64;

  // Both outlive this. Without a store, events that do not fit into `memory` bytes are left out.
  EventOrder(TrackTable& tracks, RunStore* store, std::size_t memory = kMemory)
      : tracks_(tracks), store_(store), memory_(memory) {}

  void event(const TimelineEvent& event) override;

  // Passes all events on, in order. Call once, last.
  Status drain(TimelineSink& to);

  std::uint64_t left_out() const { return left_out_; }
  // The first failure of the store; after it nothing more is kept.
  const Status& status() const { return status_; }

 private:
  struct Entry {
    std::int64_t start_ns = 0;
    std::size_t offset = 0;  // in bytes_
  };
  struct Run {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  class RunReader;

  void spill();
  void append(std::string_view bytes);
  void sort();
  void add_run(std::size_t level, Run run);
  void merge(const std::vector<Run>& runs, TimelineSink& to);

  TrackTable& tracks_;
  RunStore* store_;
  std::size_t memory_;
  std::string bytes_;
  std::vector<Entry> entries_;
  std::vector<std::vector<Run>> levels_;  // runs of a higher level came earlier, and are larger
  std::uint64_t stored_ = 0;
  std::uint64_t left_out_ = 0;
  Status status_ = success();
};

}  // namespace trainwatch
