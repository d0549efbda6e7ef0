// SPDX-License-Identifier: Apache-2.0
// Turns the series shorthand of rule cases into events with advancing event time.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "rules/case.h"
#include "rules/words.h"

namespace trainwatch::cases {

class SeriesBuilder {
 public:
  explicit SeriesBuilder(Case& made) : case_(made) {}

  // Appends the events of a line to the case.
  Status line(const Words& words);

 private:
  using RankLine = Status (SeriesBuilder::*)(const Words& words, SubjectId rank);

  // Lines whose events are of a rank: one after the other for each current rank, side by side in
  // event time.
  Status each_rank(const Words& words, RankLine method);
  Status steps(const Words& words, SubjectId rank);
  Status calls(const Words& words, SubjectId rank);
  Status loaders(const Words& words, SubjectId rank);
  Status close(const Words& words, SubjectId rank);
  Status cycle(const Words& words, SubjectId rank);
  Status scalar(const Words& words, SubjectId rank);
  Status tensor(const Words& words, SubjectId rank);

  Status ranks(const Words& words);
  Status job(const Words& words);
  Status node(const Words& words);
  Status ticks(const Words& words);
  Status clock(const Words& words);
  Status gap(const Words& words);
  Status end(const Words& words);

  void add(Input event, std::string kind, std::int64_t number);
  double jittered(double value, double share);

  Case& case_;
  std::mt19937_64 random_{42};
  Time now_ = time_from_ns(1'700'000'000'000'000'000);
  std::string job_;
  std::string node_ = "algo-1";
  std::int32_t first_rank_ = 0;
  std::int32_t last_rank_ = 0;
  std::int64_t calls_ = 0;
  std::int64_t ticks_ = 0;
  std::int64_t seconds_ = 0;
  std::int64_t clock_ = 0;
  std::int64_t cycles_ = 0;
  std::int64_t scalars_ = 0;
  std::int64_t waits_ = 0;  // in records of scalars
  std::int64_t tensors_ = 0;
};

}  // namespace trainwatch::cases
