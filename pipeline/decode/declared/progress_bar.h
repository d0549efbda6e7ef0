// SPDX-License-Identifier: Apache-2.0
// The progress bars of tqdm, which trainers draw into their console logs:
//
//      2%|▏         | 12/500 [00:31<21:04,  2.59s/it, loss=2.3]
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trainwatch/event.h"

namespace trainwatch {

inline constexpr std::string_view kBarLiteral = "%|";  // between percentage and drawing

struct ProgressBar {
  std::int64_t step = kNoStep;
  std::int64_t total = 0;
  double seconds = 0;  // per iteration, as tqdm smooths it; 0: it does not say
};

// nullopt: the text has no bar, or not all of it yet.
std::optional<ProgressBar> read_progress_bar(std::string_view text);

}  // namespace trainwatch
