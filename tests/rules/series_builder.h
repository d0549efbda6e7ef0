// Turns the series shorthand of rule cases into events with advancing event time.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "rules/case_file.h"
#include "rules/words.h"

namespace trainwatch::cases {

class SeriesBuilder {
 public:
  explicit SeriesBuilder(Case& made) : case_(made) { subject(); }

  // False when the words are no series line at all; an error when they are a wrong one.
  Result<bool> line(const Words& words);

 private:
  struct Options;

  Status options(const Words& words, std::size_t from, Options& out);
  Status steps(const Words& words);
  Status calls(const Words& words);
  Status ticks(const Words& words);
  Status loaders(const Words& words);
  Status clock(const Words& words);
  Status cycle(const Words& words);
  void add(Event event, std::string kind, std::int64_t number);
  void subject();
  static Resource resource_of(std::string_view device);
  SeriesId series(std::string_view device);
  double jittered(double value, double share);

  Case& case_;
  std::mt19937_64 random_{42};
  Time now_ = time_from_ns(1'700'000'000'000'000'000);
  std::string node_ = "algo-1";
  std::int32_t rank_ = 0;
  SubjectId subject_ = SubjectId::none;
  std::int64_t calls_ = 0;
  std::int64_t ticks_ = 0;
  std::int64_t seconds_ = 0;
  std::int64_t clock_ = 0;
  std::int64_t cycles_ = 0;
};

}  // namespace trainwatch::cases
