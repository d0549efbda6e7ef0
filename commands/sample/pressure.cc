// SPDX-License-Identifier: Apache-2.0
#include "commands/sample/pressure.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace trainwatch {
namespace {

// "some avg10=1.23 avg60=0.50 avg300=0.11 total=12345" -> 12345
std::optional<std::uint64_t> total_of(std::string_view text, std::string_view kind) {
  std::size_t begin = text.find(kind);
  if (begin == std::string_view::npos || (begin > 0 && text[begin - 1] != '\n')) return {};
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  constexpr std::string_view kField = " total=";
  begin = line.find(kField);
  if (begin == std::string_view::npos) return {};
  const std::string_view digits = line.substr(begin + kField.size());
  std::uint64_t total = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), total);
  if (failure != std::errc{}) return {};
  return total;
}

}  // namespace

Pressure parse_pressure(std::string_view text) {
  return {total_of(text, "some "), total_of(text, "full ")};
}

PressureSampler::PressureSampler(const std::string& proc) {
  resources_.push_back({ProcFile(proc + "/pressure/cpu"), "CPUPressureSome", "CPUPressureFull"});
  resources_.push_back({ProcFile(proc + "/pressure/io"), "IOPressureSome", "IOPressureFull"});
  resources_.push_back(
      {ProcFile(proc + "/pressure/memory"), "MemoryPressureSome", "MemoryPressureFull"});
}

void PressureSampler::sample(double seconds, std::vector<Metric>& out) {
  const auto add = [&](std::string_view name, std::optional<std::uint64_t> before,
                       std::optional<std::uint64_t> now) {
    if (!before || !now || *now < *before || seconds <= 0) return;
    const double percent = static_cast<double>(*now - *before) / (seconds * 1e6) * 100;
    out.push_back({"pressure", name, "", Metric::kNoDevice, std::min(percent, 100.0)});
  };
  for (Resource& resource : resources_) {
    if (!resource.file.available()) continue;
    const Pressure now = parse_pressure(resource.file.read());
    const Pressure before = std::exchange(resource.last, now);
    add(resource.some, before.some, now.some);
    add(resource.full, before.full, now.full);
  }
}

}  // namespace trainwatch
