// What cProfile (or profile) measured: Python's pstats, read from its dumps and added up as
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
  std::int64_t pcalls = 0;         // primitive calls: not by itself, directly or through others
  std::int64_t ncalls = 0;         // all calls
  std::int64_t total_ns = 0;       // in the function itself
  std::int64_t cumulative_ns = 0;  // with what it calls

  // Stops at the ends of int64.
  CallStats& operator+=(const CallStats& other);
  bool operator==(const CallStats&) const = default;
};

class CprofileStats {
 public:
  struct Row {
    CallStats calls;
    // Per caller, the part of the calls that came from it. `profile` counts them only: its times
    // are 0 here.
    std::map<PythonFunction, CallStats> callers;
  };
  using Table = FunctionTable<Row>;

  // A dump of pstats, whole.
  static Result<CprofileStats> parse(std::string dump);

  void add(const CprofileStats& other);

  const Table::Rows& functions() const { return table_.rows(); }
  // Over all functions. cumulative_ns is 0: cumulative times hold each other.
  CallStats totals() const;
  std::vector<const Table::Entry*> top_by_cumulative_time(std::size_t count) const;
  // Functions and callers that add() had no room for.
  std::uint64_t dropped() const { return dropped_; }

 private:
  Table table_;
  std::uint64_t dropped_ = 0;
};

}  // namespace trainwatch
