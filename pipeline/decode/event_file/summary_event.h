// SPDX-License-Identifier: Apache-2.0
// One event of a TensorBoard event file (event.proto of TensorFlow), read without copying.
// Images, histograms, texts and tensors of a rank above 0 are passed over by their lengths.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace trainwatch {

struct SummaryEvent {
  // Views of the payload.
  struct Value {
    std::string_view tag;
    double number = 0;  // NaN and infinities as written
  };

  double wall_time = 0;  // seconds since 1970, when the value was logged
  std::int64_t step = 0;
  std::vector<Value> values;  // numeric scalars, in both encodings
};

// Reuses the memory of `event`. False: the payload is no event.
bool read_summary_event(std::string_view payload, SummaryEvent& event);

}  // namespace trainwatch
