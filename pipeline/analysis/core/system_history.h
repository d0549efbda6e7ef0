// What each node's CPUs and GPUs were doing lately, by the second of event time, so that an alert
// about an interval can be explained from another stream. Because it is indexed by event time, the
// answer does not depend on which stream was read first.
//
// Bounded: the last `kSeconds` seconds of each node.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/rule.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

// Means over an interval; a member is empty when there was no sample of that kind.
struct SystemUsage {
  std::optional<double> cpu;           // percent, over all cores
  std::optional<double> busiest_core;  // percent, mean of the busiest core of each second
  std::optional<double> io_wait;       // percent, mean of the worst core of each second
  std::optional<double> gpu;           // percent, over all GPUs
  std::optional<double> throttled;  // percent of the seconds in which any GPU's clock was held back
  // Percent of the interval in which some task waited for it (PSI).
  std::optional<double> cpu_pressure;
  std::optional<double> io_pressure;
  std::optional<double> memory_pressure;
  std::optional<double> quota_used;  // percent of the periods in which the CPU quota was used up
};

class SystemHistory final : public NodeActivity {
 public:
  static constexpr std::size_t kSeconds = 4096;

  explicit SystemHistory(const Interner& interner) : interner_(interner) {}

  void on(const Sample& sample);

  // The usage of the subject's node, as sampled for its job or, failing that, for another one, in
  // [start, end], widened to whole seconds.
  SystemUsage usage(SubjectId subject, Time start, Time end) const;

  // True when the node's samples have been read beyond `time`: usage() up to there is final.
  bool passed(SubjectId subject, Time time) const override;
  bool is_sampled(SubjectId subject) const override { return find(subject) != nullptr; }
  Nanos longest_silence(SubjectId subject, Time from, Time to) const override;
  Nanos sampling_interval(SubjectId subject, Time time) const override;

  // Puts the stretches of time that changed since the last call; `all`: every one.
  void save(StateRows& rows, bool all);
  bool load(const StoredRows& rows);
  // All of it in one piece, for one who keeps a history of its own.
  void state(StateIo& io);

 private:
  static constexpr std::size_t kRowSeconds = 64;  // one row holds so many

  static constexpr std::size_t kLimits = 4;        // the last four of SystemUsage
  static std::size_t limit_of(Resource resource);  // index into Second::limits, or kLimits

  struct Second {
    static constexpr float kNone = -1;
    std::int64_t index = -1;  // seconds since the epoch; -1: empty
    float cpu_sum = 0, cpu_max = 0, io_max = 0, gpu_sum = 0;
    std::array<float, kLimits> limits{kNone, kNone, kNone, kNone};  // the largest sample
    std::uint32_t cpu_count = 0, gpu_count = 0;
    std::uint32_t throttle_count = 0;  // samples of the reasons
    std::uint32_t throttled = 0;       // of these, with one that holds a clock back
  };
  struct Node {
    std::vector<Second> ring;  // by index % kSeconds
    std::int64_t newest = -1;
    std::uint64_t changed = 0;  // a bit per row, since the last save
    static_assert(kSeconds / kRowSeconds == 64);
  };

  const Node* find(SubjectId subject) const;
  Node& node_of(SeriesId series);

  const Interner& interner_;
  std::vector<std::uint32_t> node_of_series_;  // by SeriesId; kUnset: not looked up yet
  std::vector<std::pair<Subject, Node>> nodes_;
};

}  // namespace trainwatch
