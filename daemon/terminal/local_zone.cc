// SPDX-License-Identifier: Apache-2.0
#include "daemon/terminal/local_zone.h"

#include <chrono>
#include <ctime>

namespace trainwatch {

Zone local_zone(Time at) {
  if (at == kNoTime) return {};
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  std::tm local{};
  if (localtime_r(&seconds, &local) == nullptr) return {};
  return {local.tm_zone == nullptr ? "UTC" : local.tm_zone, std::chrono::seconds(local.tm_gmtoff)};
}

}  // namespace trainwatch
