// SPDX-License-Identifier: Apache-2.0
// What scalars mean, by the words of their names: loggers name their tags, columns and members as
// they like, but by the same words. "train_loss_epoch", "Loss/train", "actor/pg_loss" and
// "CrossEntropyLoss" are losses of the training, "val_loss" and "Loss/test" are not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainwatch/scalar.h"

namespace trainwatch {

struct ScalarMeaning {
  ScalarKind kind = ScalarKind::other;
  double scale = 1;  // to the unit of the kind

  // The value of one record is the mean over the steps since the record before.
  bool is_mean() const;
};

// The name of a tag within its job: Keras writes the same tags into the `train/` and `validation/`
// of one training, so that those of the second are "validation/epoch_loss". `path` is that of the
// file.
std::string name_in_job(std::string_view tag, std::string_view path);

// The tag of what Hugging Face's Trainer writes last.
inline constexpr std::string_view kEndOfTraining = "train/train_runtime";

// `path`: of the file; the directory of an evaluation makes every loss one of the validation.
ScalarMeaning meaning_of_tag(std::string_view tag, std::string_view path);

// What a name counts; the finer the later.
enum class CounterKind : std::uint8_t {
  none,
  epochs,
  batches,  // of an epoch, likely
  steps,
  global_steps,
};
CounterKind counter_of_name(std::string_view name);

// An epoch beyond is a time.
inline constexpr double kMostEpochs = 1e6;

// Whether one of its words says that it is of an evaluation.
bool is_evaluation_name(std::string_view name);

// "time", "seconds", "time (s)": nothing but a time, how long something took or since when.
bool is_time_name(std::string_view name);

// "accuracy", "reward", "perplexity": what only an evaluation or a training measures. Together with
// a counter it is worth reading, although no rule knows it.
bool is_metric_name(std::string_view name);

}  // namespace trainwatch
