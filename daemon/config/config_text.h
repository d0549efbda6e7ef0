// SPDX-License-Identifier: Apache-2.0
// The text form of single values in configuration and flags.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/result.h"
#include "trainwatch/time.h"

namespace trainwatch {

// "500ms", "1.5s", "1h30m", "0". Units: us, ms, s, m, h, d. Never negative.
Result<Nanos> parse_duration(std::string_view text);
std::string print_duration(Nanos duration);  // in the largest unit that is exact

// Bytes: "65536", "256KiB", "4MiB", "1GiB".
Result<std::uint64_t> parse_size(std::string_view text);
std::string print_size(std::uint64_t bytes);

Result<std::int64_t> parse_whole_number(std::string_view text);
Result<bool> parse_boolean(std::string_view text);  // true or false

// " (did you mean 'x'?)" when one of `known` is near to `text`, else nothing.
std::string did_you_mean(std::string_view text, std::span<const std::string_view> known);

}  // namespace trainwatch
