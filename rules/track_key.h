// The alert key of the steps of one mode from one writer: "train", "eval/profiler".
#pragma once

#include <string>

#include "trainwatch/event.h"

namespace trainwatch {

inline std::string track_key(Mode mode, Origin origin) {
  return std::string(to_string(mode)) +
         (origin == Origin::timeline ? "" : "/" + std::string(to_string(origin)));
}

}  // namespace trainwatch
