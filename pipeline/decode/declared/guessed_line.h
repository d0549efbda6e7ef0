// SPDX-License-Identifier: Apache-2.0
// A line of text that no declaration knows, read by what its numbers are called: "Epoch 1/10, step
// 5/500 | loss: 2.31 | 120 ms/step" counts epochs and steps, and has a loss and a duration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "pipeline/decode/scalar_tags.h"
#include "trainwatch/event.h"

namespace trainwatch {

// "5/500"
struct GuessedCount {
  std::int64_t number = kNoStep;
  std::int64_t of = 0;  // 0: it does not say
  CounterKind kind = CounterKind::none;

  bool is_known() const { return number != kNoStep; }
};

struct GuessedValue {
  std::string_view name;  // in front of the number; of "120 ms/step", what follows it
  double value = 0;       // in the unit of its meaning
  ScalarMeaning meaning{};
  bool in_ms = false;          // as written
  bool of_evaluation = false;  // the line says so, and its name does not
};

struct GuessedLine {
  static constexpr std::size_t kMostValues = 32;

  GuessedCount epoch;
  GuessedCount count;  // of what is finer; kind none: "5/500" without a name
  std::vector<GuessedValue> values;
  bool has_loss = false;     // of the training or of a validation
  bool has_meaning = false;  // or something else that is known
  bool evaluates = false;    // it counts what an evaluation does
  bool is_counted = false;   // `count` is that of such lines: the line has none
  // It counts something by name and has a value that is worth a record.
  bool is_record() const {
    const bool named = epoch.is_known() || count.kind != CounterKind::none;
    return has_loss ? named || count.is_known() : named && has_meaning;
  }
  // Nothing but the number of an epoch or of a step, as a headline of what follows.
  bool is_headline() const {
    const bool counts = count.is_known() && count.kind != CounterKind::none;
    return !evaluates && (counts ? !has_meaning : epoch.is_known() && values.empty());
  }
  // A loss of the training that says nothing of when.
  bool is_loss_alone() const { return has_loss && !epoch.is_known() && !count.is_known(); }
};

// Replaces `read`, whose names are parts of `line`.
void read_guessed_line(std::string_view line, GuessedLine& read);

}  // namespace trainwatch
