// SPDX-License-Identifier: Apache-2.0
// What the name of a call of the Flight Recorder says, and its shapes as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainwatch {

struct Peer {
  bool sends = false;
  std::size_t peer = 0;  // index into the group's ranks
};

// Of "send 0->3" and "recv 3<-0"; nullopt: it is neither.
std::optional<Peer> peer_of(std::string_view name);

// "[[1024, 1024]]"; at most four shapes, and of each four sizes.
std::string shapes_text(const std::vector<std::vector<std::int64_t>>& shapes);

}  // namespace trainwatch
