// SPDX-License-Identifier: Apache-2.0
// A value that a training job logs about itself: a loss, a learning rate, how long its steps take.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#include "trainwatch/subject.h"
#include "trainwatch/symbol_table.h"
#include "trainwatch/time.h"

namespace trainwatch {

// What a scalar means, decided once by the decoder from the format and the tag. Units in the names;
// ratios are 0 to 1.
enum class ScalarKind : std::uint8_t {
  other,
  loss,             // of the training
  validation_loss,  // of an evaluation
  grad_norm,
  learning_rate,
  step_seconds,  // of one iteration; of several, their mean
  data_seconds,  // of an iteration: waiting for its batch
  tokens_per_second,
  samples_per_second,
  steps_per_second,
  tflops_per_gpu,
  mfu_ratio,
  loss_scale,
  skipped_steps,  // since the last record
  nan_steps,      // since the last record
  memory_bytes,
  epoch,
  total_steps,
  elapsed_seconds,  // since the process, or its training, began
  step_tokens,      // of one iteration, or of all so far
  step_size,        // of one iteration: its samples, or the length of its sequences
  count_,
};

inline std::string_view to_string(ScalarKind kind) {
  constexpr std::string_view kNames[] = {
      "other",
      "loss",
      "validation_loss",
      "grad_norm",
      "learning_rate",
      "step_seconds",
      "data_seconds",
      "tokens_per_second",
      "samples_per_second",
      "steps_per_second",
      "tflops_per_gpu",
      "mfu_ratio",
      "loss_scale",
      "skipped_steps",
      "nan_steps",
      "memory_bytes",
      "epoch",
      "total_steps",
      "elapsed_seconds",
      "step_tokens",
      "step_size",
  };
  static_assert(std::size(kNames) == static_cast<std::size_t>(ScalarKind::count_));
  return kNames[static_cast<std::size_t>(kind)];
}

enum class LaneId : std::uint32_t;

struct Scalar {
  // When it was logged; where the record has no time, when the file was last written to as it was
  // read. Ids of alerts must not depend on it.
  Time at{};
  double value = 0;                     // NaN and infinities as written
  std::int64_t step = -1;               // as the writer counts; -1 (kNoStep): not said
  SubjectId subject = SubjectId::none;  // job, and rank where it is known
  Symbol tag = Symbol::none;            // "train/loss"
  // Of a rate or a duration: the mean over so many steps. More than 1 says nothing about single
  // steps.
  std::uint32_t steps = 1;
  ScalarKind kind = ScalarKind::other;
  bool timed = false;       // the record has its own time
  bool guessed = false;     // no format is known to be that of the record: its names say what it is
  bool of_epoch = false;    // the step is the number of an epoch
  bool ends_record = true;  // no other scalar of its record follows
  LaneId lane{};            // of its file
};

}  // namespace trainwatch
