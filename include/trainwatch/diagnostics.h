// SPDX-License-Identifier: Apache-2.0
// How the pipeline reports what it could not use. It never logs: every skipped byte is counted
// under a name, and the daemon shows the counters in /metrics and /api/v1/status.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace trainwatch {

enum class FileId : std::uint32_t {};

// Why a record was rejected. Each record counts once; the rest of the file is read.
enum class RejectReason : std::uint8_t {
  syntax,    // not JSON, or cut off in the middle of a file
  type,      // a required field is missing or has the wrong type
  too_long,  // a record above the size limit
  utf8,
  time,            // no usable time stamp
  gzip,            // damaged compressed data
  unknown_format,  // the file has none of the formats that we read
  cardinality,     // a table is full (series, subjects)
  ts_future,       // far ahead of what came before and after it in its lane
  ts_past,         // far behind them, or before 1970
  duplicate,       // repeats an earlier record
  depth,           // brackets nested deeper than we read
  count_,
};

inline std::string_view to_string(RejectReason reason) {
  constexpr std::string_view kNames[] = {"syntax",    "type",    "too_long",       "utf8",
                                         "time",      "gzip",    "unknown_format", "cardinality",
                                         "ts_future", "ts_past", "duplicate",      "depth"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(RejectReason::count_));
  return kNames[static_cast<std::size_t>(reason)];
}

class Diagnostics {
 public:
  virtual ~Diagnostics() = default;
  // One record of `file` was rejected. `sample` is its beginning, valid during the call only.
  virtual void reject(FileId file, RejectReason reason, std::string_view sample) = 0;
};

}  // namespace trainwatch
