// SPDX-License-Identifier: Apache-2.0
// What pyinstrument sampled: per function, the time on the stack and the time on top of it, from
// the output of its JSON renderer. Integer nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "pipeline/profile/python_function.h"
#include "trainwatch/result.h"

namespace trainwatch {

struct SampledTime {
  std::int64_t self_ns = 0;   // in the function itself; "[self]" frames count for their caller
  std::int64_t total_ns = 0;  // including what it calls; recursion counts once
  SampledTime& operator+=(const SampledTime& other);
  bool operator==(const SampledTime&) const = default;
};

class PyinstrumentStats {
 public:
  using Table = FunctionTable<SampledTime>;

  static constexpr std::size_t kMaxBytes = std::size_t{32} << 20U;
  static constexpr std::size_t kMaxFrames = 4096;  // depth

  static Result<PyinstrumentStats> parse(std::string_view json);

  void add(const PyinstrumentStats& other);

  const Table::Rows& functions() const { return table_.rows(); }
  std::vector<const Table::Entry*> top_by_total_time(std::size_t count) const;
  std::int64_t duration_ns() const { return duration_ns_; }
  std::int64_t samples() const { return samples_; }
  // Functions that add() had no room for.
  std::uint64_t dropped() const { return dropped_; }

 private:
  friend class FrameWalk;

  Table table_;
  std::int64_t duration_ns_ = 0;
  std::int64_t samples_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace trainwatch
