// Times as the analyses show them: whole microseconds, as the files have them.
#pragma once

#include <cstdint>

#include "trainwatch/time.h"

namespace trainwatch {

inline std::int64_t to_us(Nanos duration) {
  return std::chrono::floor<std::chrono::microseconds>(duration).count();
}
inline std::int64_t to_us(Time time) {
  return to_us(time.time_since_epoch());
}

}  // namespace trainwatch
