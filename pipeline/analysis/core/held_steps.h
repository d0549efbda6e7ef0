// SPDX-License-Identifier: Apache-2.0
// Steps of a rank whose records have no times, until all that was written with them has been read.
// Then the last one ends when the file was written to, and the others reach back from it at the
// pace that they have themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class HeldSteps {
 public:
  // `step`: all but its times. `latest`: it ended no later. Where more than `most` are held, two
  // records become one that stands for the steps of both, unless an attempt begins between them.
  void add(Step step, Time latest, std::size_t most);
  // A wait of the latest one.
  void waited(std::int64_t number, Nanos wait);
  // None of them ends before `earliest`, unless that is after the latest time it may have.
  std::vector<Step> take(Time earliest);

  bool empty() const { return held_.empty(); }
  std::size_t size() const { return held_.size(); }
  void state(StateIo& io);

 private:
  struct Held {
    Step step;
    Time latest{};
    void state(StateIo& io);
  };

  void merge(std::size_t most);

  std::vector<Held> held_;
};

}  // namespace trainwatch
