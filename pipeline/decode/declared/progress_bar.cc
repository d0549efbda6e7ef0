// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/progress_bar.h"

#include <algorithm>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/scalar_text.h"

namespace trainwatch {
namespace {

// " [00:31<21:04,  2.59s/it, loss=2.3]", or with the inverse, " 2.59it/s".
std::optional<double> seconds_per_iteration(std::string_view times) {
  const std::size_t comma = times.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  std::string_view rate = times.substr(comma + 1);
  rate = rate.substr(0, rate.find_first_of(",]"));
  rate.remove_prefix(std::min(rate.find_first_not_of(' '), rate.size()));
  const bool inverse = rate.ends_with("it/s");
  if (!inverse && !rate.ends_with("s/it")) return std::nullopt;
  const auto number = parse_number(rate.substr(0, rate.size() - 4));
  if (!number || !(*number > 0)) return std::nullopt;
  return inverse ? 1 / *number : *number;
}

}  // namespace

std::optional<ProgressBar> read_progress_bar(std::string_view text) {
  const std::size_t bar = find_text(text, kBarLiteral);
  if (bar == std::string_view::npos) return std::nullopt;
  const std::size_t drawn = text.find("| ", bar + kBarLiteral.size());
  if (drawn == std::string_view::npos) return std::nullopt;
  const std::string_view counts = text.substr(drawn + 2);
  const std::size_t slash = counts.find('/');
  const std::size_t end = counts.find(" [");
  if (slash == std::string_view::npos || end == std::string_view::npos || end < slash)
    return std::nullopt;
  if (counts.find(']', end) == std::string_view::npos) return std::nullopt;
  const auto step = parse_digits(counts.substr(0, slash));
  const auto total = parse_digits(counts.substr(slash + 1, end - slash - 1));
  if (!step || !total) return std::nullopt;
  return ProgressBar{*step, *total, seconds_per_iteration(counts.substr(end)).value_or(0)};
}

}  // namespace trainwatch
