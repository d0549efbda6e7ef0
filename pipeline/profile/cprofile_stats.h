// SPDX-License-Identifier: Apache-2.0
// What cProfile (or profile) measured: Python's pstats, read from its dumps and summed as
// pstats.Stats.add does. Times are integer nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/profile/python_function.h"
#include "trainwatch/result.h"

namespace trainwatch {

struct CallStats {
  std::int64_t pcalls = 0;         // primitive calls: without recursive ones
  std::int64_t ncalls = 0;         // all calls
  std::int64_t total_ns = 0;       // in the function itself
  std::int64_t cumulative_ns = 0;  // including what it calls

  // Saturates at the limits of int64.
  CallStats& operator+=(const CallStats& other);
  bool operator==(const CallStats&) const = default;
};

class CprofileStats {
 public:
  struct Row {
    CallStats calls;
    // The part of the calls that came from each caller. `profile` only counts them: its times are
    // 0.
    std::map<PythonFunction, CallStats> callers;
  };
  using Table = FunctionTable<Row>;

  // Parses a complete dump of pstats.
  static Result<CprofileStats> parse(std::string dump);

  void add(const CprofileStats& other);

  const Table::Rows& functions() const { return table_.rows(); }
  // Over all functions. cumulative_ns is 0: cumulative times contain each other.
  CallStats totals() const;
  std::vector<const Table::Entry*> top_by_cumulative_time(std::size_t count) const;
  // Functions and callers that add() had no room for.
  std::uint64_t dropped() const { return dropped_; }

 private:
  Table table_;
  std::uint64_t dropped_ = 0;
};

}  // namespace trainwatch
