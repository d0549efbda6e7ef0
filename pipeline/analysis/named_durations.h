// Durations by name in state.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/cycle/durations_by_name.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// At most `most` names and "others".
inline void named_durations_state(StateIo& io, std::vector<NameStats>& names, std::size_t most) {
  auto count = static_cast<std::uint32_t>(names.size());
  io(count);
  if (count > most + 1) io.fail();
  if (io.is_loading()) names.assign(io.ok() ? count : 0, {});
  for (NameStats& of : names) {
    io(of.name);
    io(of.stats);
  }
}

}  // namespace trainwatch
