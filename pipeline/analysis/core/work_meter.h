// SPDX-License-Identifier: Apache-2.0
// How much work the iteration of a log's record has, in usual ones: larger batches and longer
// sequences take longer, and nothing is lost by that. The record says how many tokens or samples
// it has, or how many pass in a second.
//
// A figure counts once it has proved to be that: sizes, if the times vary no more without them;
// rates, if with the times they give a work that varies far less than the times do, or hardly vary
// themselves. A rate that is a mean since the beginning, or of the computation alone, does not. A
// size that only grows is counted from the beginning of the training, and its growth is the size.
#pragma once

#include <cstdint>

#include "trainwatch/scalar.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class WorkMeter {
 public:
  // A scalar of the record that is being read.
  void on(const Scalar& scalar);
  // The record has ended; an iteration of it took so many seconds, and it is of so many iterations.
  // Returns the work of one, 1 as long as nothing is known.
  double end_record(double seconds, double steps);

  void state(StateIo& io);

 private:
  // Mean and variance, by Welford's algorithm.
  struct Spread {
    double mean = 0;
    double squares = 0;
    double count = 0;
    void add(double value);
    double variance() const { return count > 1 ? squares / (count - 1) : 0; }
    void state(StateIo& io);
  };
  // A figure, and how the times vary with and without it.
  struct Proof {
    Spread work;
    Spread rest;  // the times without it
    void state(StateIo& io);
  };
  enum class Basis : std::uint8_t { none, sizes, rates, count_ };

  double size_of_record(double steps);
  void decide();

  // Of the record that is being read; 0: it has none.
  double tokens_ = 0;
  double size_ = 0;
  double rate_ = 0;
  ScalarKind rate_kind_ = ScalarKind::other;
  bool evaluates_ = false;  // the rate may be of an evaluation
  bool declared_ = false;   // the format of the rate is known: it is that of the interval
  double tokens_before_ = 0;
  double first_tokens_ = 0;
  double growing_ = 0;    // records in a row in which the tokens have grown
  bool counted_ = false;  // the tokens are those of all steps so far
  Spread times_;
  Proof sizes_;
  Proof rates_;
  double records_ = 0;
  Basis basis_ = Basis::none;
};

}  // namespace trainwatch
