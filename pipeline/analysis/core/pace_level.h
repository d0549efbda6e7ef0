// SPDX-License-Identifier: Apache-2.0
// What PaceMemory knows of a level, on the scale of logarithms: where it is, how far it wanders,
// what speaks for a change, and the best that was sustained.
#pragma once

#include <cstdint>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch::pace {

inline constexpr double kLeastSigma = 0.01;  // 1 % of the level
inline constexpr std::int64_t kFewest = 20;  // iterations that make a level
inline constexpr std::int64_t kBlock = 50;   // iterations that sustain one

// Where a change was first seen, and how much speaks for it.
struct Chart {
  double sum = 0;
  std::int64_t count = 0;  // iterations since the suspicion
  Time since{};
  std::int64_t step = kNoStep;

  void add(double distance, const Step& step);
  void state(StateIo& io);
};

// Mean and variance, with more weight for what is new.
struct Level {
  double mean = 0;
  double variance = 0;
  double count = 0;

  void add(double value);
  double deviation() const;
  void state(StateIo& io);
};

// How far the means of kFewest iterations wander about the level. Independent iterations make
// them wander little; those of a busy machine, which is quick now and slow then, do. A worse
// level counts only once it has gone again.
struct Wander {
  double sum = 0;   // of the current mean
  double held = 0;  // the distance of the mean before, which may be that of a change
  bool holds = false;
  std::int64_t count = 0;
  std::int64_t means = 0;
  double variance = 0;

  void add(double value, double level);
  void add_mean(double distance);
  void forget_latest();
  double deviation(double of_one) const;
  void state(StateIo& io);
};

// The best level that was sustained.
struct Best {
  double sum = 0;  // of the current block
  std::int64_t count = 0;
  double before = 0;     // mean of the block before
  double sustained = 0;  // by the last two blocks: the lower mean
  double best = 0;
  std::int64_t blocks = 0;
  double largest_rise = 0;  // from one block to the next, since the best
  Time at{};                // when the best one ended
  std::int64_t step = kNoStep;

  // True when a block is complete.
  bool add(double value, const Step& step);
  void state(StateIo& io);
};

}  // namespace trainwatch::pace
