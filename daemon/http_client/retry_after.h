// SPDX-License-Identifier: Apache-2.0
// The header Retry-After: when a server wants to be asked again.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace trainwatch {

// From a number of seconds or an HTTP date, which is compared with `now`; zero for one that is
// past. Nothing if it is neither.
std::optional<std::chrono::seconds> parse_retry_after(const std::string& header,
                                                      std::chrono::system_clock::time_point now);

}  // namespace trainwatch
