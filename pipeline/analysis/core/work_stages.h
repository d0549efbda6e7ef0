// SPDX-License-Identifier: Apache-2.0
// Stages of a training: the batches become larger, the sequences longer or the images finer, and
// the job logs it. A figure of size that was constant becomes another constant. What is usual is
// then learned anew, as time need not be proportional to the size.
#pragma once

#include <cstdint>
#include <vector>

#include "trainwatch/scalar.h"
#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

// How the work of an iteration has changed.
struct WorkChange {
  double ratio = 1;       // relative to the stage; 1 unless another one may have begun
  bool begins = false;    // another stage has begun
  Time before = kNoTime;  // of the last record with the old size
  Time first = kNoTime;   // of the first one with the new
};

// The stages of one rank.
class WorkStages {
 public:
  // Returns whether change() differs from before.
  bool on(const Scalar& scalar);
  WorkChange change() const { return change_; }

  void state(StateIo& io);

 private:
  struct Figure {
    Symbol tag = Symbol::none;
    double value = 0;          // in the stage
    std::uint32_t same = 0;    // consecutive records with it
    Time same_at{};            // of the last one
    double other = 0;          // in the latest records, if it differs; 0: it does not
    std::uint32_t others = 0;  // consecutive records with it
    Time other_at{};           // of the first one
    void state(StateIo& io);
  };

  Figure* figure_of(Symbol tag);
  static bool is_new(Figure& figure, double value, Time at);

  std::vector<Figure> figures_;
  WorkChange change_;
};

}  // namespace trainwatch
