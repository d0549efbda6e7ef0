// SPDX-License-Identifier: Apache-2.0
// What stands before the message of a console line: kubelet's time and stream, the rank that a
// launcher put there, a time of a logger, of glog or of the kernel.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "trainwatch/subject.h"
#include "trainwatch/time.h"

namespace trainwatch {

struct PrefixedLine {
  std::string_view message{};   // without kubelet's prefix and the rank; the rest of it stays
  std::int32_t rank = kNoRank;  // of "[rank3]:", "[default3]:", "3: ", "[3/1]"
  std::string_view node{};      // of a line of the kernel log
  std::optional<Time> at{};     // not after the file was written, by more than a zone
};

// `line` has no colours; what is returned refers to it. `written`: when the file was; Time{}: it is
// not known.
PrefixedLine read_line_prefix(std::string_view line, Time written);

// "9-21 14:18:00.5", in the local zone: the latest that is not after `written`, by more than a
// zone. nullopt: no such time, or `written` is not known.
std::optional<Time> time_without_year(std::string_view clock, Time written);

}  // namespace trainwatch
