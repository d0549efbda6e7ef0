// SPDX-License-Identifier: Apache-2.0
// Numbers as people and loggers write them: "12,345", '2.31', 45.67GiB, 34.95%, nan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwatch/scalar.h"
#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

// The number at the beginning of `text`, behind blanks, a quote or a bracket, in the unit of
// `kind`: percent of a ratio, ms of seconds and GiB or GB of bytes are converted. nullopt if there
// is no number.
std::optional<double> scalar_at(std::string_view text, ScalarKind kind);
bool begins_with_scalar(std::string_view text);

// string_view::find() stops at each byte that is as the first one wanted, of which text is full.
std::size_t find_text(std::string_view text, std::string_view wanted, std::size_t from = 0);

// Where the value of `key: value`, `key=value` or `'key': value` begins in a line. nullopt if the
// line has no such key, or no number behind it. `blanks`: also of `key value`.
std::optional<std::size_t> place_of_scalar(std::string_view line, std::string_view key,
                                           bool blanks = false);

// "2026-08-01 07:19:37", with a fraction or not, in the local time zone. In the hour that occurs
// twice when summer time ends, the first occurrence that is not before `after`.
std::optional<Time> local_time(std::string_view text, Time after = kNoTime);

// The same for the lines of a file, whose times increase: as most are of the minute of the line
// before, the time zone is asked once a minute.
class LocalClock {
 public:
  std::optional<Time> read(std::string_view text);
  // A date as above or as in ISO 8601, or a number since the epoch, in s, ms, us or ns.
  std::optional<Time> read_any(std::string_view text);

  void state(StateIo& io) { io(latest_); }

 private:
  std::string minute_;  // as written
  Time begins_{};
  Time latest_ = kNoTime;
};

// The rank that a launcher put before a line ("[rank3]:", "[default3]:", "3: "), or kNoRank.
std::int32_t rank_of_line(std::string_view line);

// The rank in the path of a log: "global_rank_3", "globalrank-3", "rank3", or torchrun's
// "attempt_0/3/". kNoRank if the path has none.
std::int32_t rank_of_log(std::string_view path);

}  // namespace trainwatch
