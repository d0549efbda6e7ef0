// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/named_time.h"

#include <utility>

#include "pipeline/decode/scalar_tags.h"

namespace trainwatch {

bool NamedTime::is_name(std::string_view name, bool of_epochs) {
  if (is_time_name(name)) return true;
  constexpr std::string_view kEpoch = "epoch";
  if (!of_epochs || name.size() <= kEpoch.size() || (name[0] | 0x20) != 'e') return false;
  return name.substr(1).starts_with(kEpoch.substr(1)) && is_time_name(name.substr(kEpoch.size()));
}

ScalarKind NamedTime::kind_of(double value, bool in_ms, std::uint32_t steps) {
  constexpr double kLongest = 1e8;  // three years; more is a time of its own
  constexpr double kLittle = 0.1;
  constexpr int kEnough = 3;
  constexpr int kEnoughLittle = 30;
  if (value > kLongest) return ScalarKind::other;
  const double before = std::exchange(last_, value);
  const int enough = little_ ? kEnoughLittle : kEnough;
  if (before >= 0 && !falls_) {
    const bool again = rises_ >= enough && value < before / 2;  // the training was started again
    falls_ = value <= before && !again;
    little_ = little_ || (rises_ < kEnough && value < before * (1 + kLittle));
    if (rises_ < enough) ++rises_;
  }
  if (!falls_ && rises_ >= (little_ ? kEnoughLittle : kEnough)) return ScalarKind::elapsed_seconds;
  return falls_ && (in_ms || steps == 1) ? ScalarKind::step_seconds : ScalarKind::other;
}

}  // namespace trainwatch
