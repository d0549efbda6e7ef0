// SPDX-License-Identifier: Apache-2.0
#include "daemon/http_client/retry_after.h"

#include <algorithm>
#include <charconv>
#include <ctime>

namespace trainwatch {

std::optional<std::chrono::seconds> parse_retry_after(const std::string& header,
                                                      std::chrono::system_clock::time_point now) {
  constexpr std::uint32_t kMost = 3600;  // an alert of yesterday is of no use to anybody
  const char* const end = header.data() + header.size();
  std::uint32_t seconds = 0;
  const auto [stop, failure] = std::from_chars(header.data(), end, seconds);
  if (failure == std::errc{} && stop == end) return std::chrono::seconds(std::min(seconds, kMost));
  std::tm date{};
  const char* const rest = strptime(header.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (rest == nullptr || *rest != '\0') return std::nullopt;
  const auto wait = std::chrono::system_clock::from_time_t(timegm(&date)) - now;
  return std::clamp(std::chrono::ceil<std::chrono::seconds>(wait), std::chrono::seconds(0),
                    std::chrono::seconds(kMost));
}

}  // namespace trainwatch
