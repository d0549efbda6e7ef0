// SPDX-License-Identifier: Apache-2.0
// Figures, durations and clock times as the sentence on top and what stands beside it in a terminal
// say them. No clock and no zone of its own: whoever shows a text passes both.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "trainwatch/time.h"

namespace trainwatch {

// Of clock times for people; the offset is that of the moment which is shown.
struct Zone {
  std::string name = "UTC";
  std::chrono::seconds offset{};  // east of Greenwich
};

// "12,345"
std::string grouped_digits(std::int64_t number);
// "12 s", "38 min", "1 h 12 min", "3 d 4 h"; "0.4 s" below ten seconds. Negative: "0 s".
std::string duration_words(Nanos duration);
// Time of GPUs: "12 GPU seconds", "41 GPU minutes", "3.4 GPU hours".
std::string gpu_time_words(double seconds);
// "4.2 steps/s", or "2.5 s per step" where that is longer than a second.
std::string rate_words(double seconds_per_step);
// "31 %" of 0.31; "below 1 %".
std::string share_words(double share);
// "14:02 CET", with the date if it is not that of `now`, with seconds if less than ten minutes lie
// between them. The date has its year if that is another one or half a year lies between them.
std::string clock_words(Time time, Time now, const Zone& zone);

// Puts a clock time for {since}, and the time from then to `now` for {for}. A text without a
// `since` (kNoTime) has neither. `today`: when it is read, which may be long after `now`; kNoTime:
// it is not.
std::string fill_headline(std::string_view text, Time since, Time now, const Zone& zone,
                          Time today = kNoTime);

}  // namespace trainwatch
