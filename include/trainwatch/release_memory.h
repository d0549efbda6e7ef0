// SPDX-License-Identifier: Apache-2.0
// Empties a container and returns its memory. `container = {}` does not: to a vector it assigns an
// empty list of elements, and the capacity stays.
#pragma once

namespace trainwatch {

template <class Container>
void release_memory(Container& container) {
  container = Container();
}

}  // namespace trainwatch
