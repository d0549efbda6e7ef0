// SPDX-License-Identifier: Apache-2.0
// What the tags of scalars mean, as the frameworks' loggers name them.
#pragma once

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

ScalarMeaning meaning_of_tag(std::string_view tag, std::string_view path);

}  // namespace trainwatch
