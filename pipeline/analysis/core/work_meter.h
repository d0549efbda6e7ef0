// SPDX-License-Identifier: Apache-2.0
// The amount of work of an iteration, relative to the usual one, from what a log says: tokens or
// samples per iteration, or per second. Larger batches and longer sequences take longer, and no
// time is lost by that.
//
// A figure is used once the first records have confirmed it. Sizes: dividing the times by them does
// not make the times vary more. Rates: rate times time varies far less than the times do, or, in a
// known format, the rate hardly varies. This excludes rates that are means since the beginning, or
// of the computation alone. A size that only grows is a running total; its differences are used.
#pragma once

#include <cstdint>

#include "trainwatch/scalar.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class WorkMeter {
 public:
  // A scalar of the record that is being read.
  void on(const Scalar& scalar);
  // The record has ended. `seconds`: of one iteration; `steps`: iterations in the record. Returns
  // the work of one iteration; 1 while it is not known.
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
  // The evidence for a figure.
  struct Proof {
    Spread work;
    Spread rest;  // of the times divided by it
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
