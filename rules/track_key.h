// SPDX-License-Identifier: Apache-2.0
// The alert key of the steps of one mode from one writer: "train", "eval/profiler".
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "trainwatch/event.h"

namespace trainwatch {

// Valid for ever. A rule asks for it at every step.
inline const std::string& track_key(Mode mode, Origin origin) {
  constexpr auto kModes = static_cast<std::size_t>(Mode::count_);
  constexpr auto kOrigins = static_cast<std::size_t>(Origin::count_);
  static const auto kKeys = [] {
    std::array<std::array<std::string, kOrigins>, kModes> keys;
    for (std::size_t i = 0; i < kModes; ++i) {
      for (std::size_t j = 0; j < kOrigins; ++j) {
        const auto of = static_cast<Origin>(j);
        keys[i][j] = to_string(static_cast<Mode>(i));
        if (of != Origin::timeline) keys[i][j] += "/" + std::string(to_string(of));
      }
    }
    return keys;
  }();
  return kKeys[static_cast<std::size_t>(mode)][static_cast<std::size_t>(origin)];
}

}  // namespace trainwatch
