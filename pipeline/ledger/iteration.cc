// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ledger/iteration.h"

#include "trainwatch/stats/median.h"

namespace trainwatch {

double JobIteration::level() const {
  std::array<double, kGroups> means{};
  std::size_t n = 0;
  for (const Group& group : groups) {
    if (group.ranks > 0) means[n++] = group.work / group.ranks;
  }
  if (n == 2) return std::min(means[0], means[1]);  // the other's
  return n == 0 ? 0 : median_in({means.data(), n});
}

void JobIteration::state(StateIo& io) {
  io(number);
  io(first_step);
  io(begin);
  io(end);
  io(earliest);
  io(seen);
  io(own);
  io(noise);
  io(allowed);
  io(barriers);
  io(opened);
  io(last);
  io(groups);
  io(ranges);
  if (!is_possible(begin) || !is_possible(end) || last.steps == 0) io.fail();
}

}  // namespace trainwatch
