// SPDX-License-Identifier: Apache-2.0
// The options of the lines "steps" and "calls" of rule cases.
#pragma once

#include <cstdint>
#include <string_view>

#include "rules/words.h"
#include "trainwatch/event.h"
#include "trainwatch/result.h"

namespace trainwatch::cases {

struct SpanOptions {
  double wait = 0;    // for its batch, at the beginning of a step
  double before = 0;  // between the step before and this one
  double jitter = 0;
  double growth = 0;
  double spike = 0;
  std::int64_t every = 0;
  std::int64_t from = 0;
  std::int64_t worker = kNoWorker;
  std::int64_t process = -1;
  std::int64_t step = kNoStep;  // of a call
  bool numbers = true;          // of steps, in the file
  std::string_view name = "DataLoaderIter::GetNext";
  Mode mode = Mode::train;
  Origin origin = Origin::timeline;

  bool spikes_at(std::int64_t number) const {
    return every > 0 && number >= from && (number - from) % every == 0;
  }
};

// Reads pairs of key and value from words[3] on.
Result<SpanOptions> read_span_options(const Words& words);

}  // namespace trainwatch::cases
