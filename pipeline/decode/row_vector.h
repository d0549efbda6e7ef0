// How vectors of rows grow, which may have millions.
#pragma once

#include <cstddef>
#include <vector>

namespace trainwatch {

// From here on a vector of rows takes its whole address space, of which only what is used becomes
// memory. Growing by copies would need up to twice the memory.
inline constexpr std::size_t kManyRows = std::size_t{1} << 16U;

template <class Row>
void make_room(std::vector<Row>& rows, std::size_t most) {
  if (rows.size() == kManyRows && rows.capacity() < most) rows.reserve(most);
}

}  // namespace trainwatch
