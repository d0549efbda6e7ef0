// SPDX-License-Identifier: Apache-2.0
// Whether a regular expression takes every digit for any other.
#pragma once

#include <string_view>

namespace trainwatch {

// True if a valid pattern of RE2 has digits only as \d, as 0-9 of a class and in counts of
// repetitions: it then finds the same in texts that differ in digits only. False if in doubt.
bool takes_digits_alike(std::string_view pattern);

}  // namespace trainwatch
