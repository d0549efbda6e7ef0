#include "commands/sample/pressure.h"

#include <charconv>

namespace trainwatch {
namespace {

// "some avg10=1.23 avg60=0.50 avg300=0.11 total=12345" -> 1.23
std::optional<double> ten_seconds(std::string_view text, std::string_view kind) {
  constexpr std::string_view kField = " avg10=";
  const std::string wanted = std::string(kind).append(kField);
  const std::size_t found = text.find(wanted);
  if (found == std::string_view::npos || (found > 0 && text[found - 1] != '\n')) return {};
  text.remove_prefix(found + wanted.size());
  double percent = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (failure != std::errc{} || !(percent >= 0 && percent <= 100)) return {};
  return percent;
}

}  // namespace

Pressure parse_pressure(std::string_view text) {
  return {ten_seconds(text, "some"), ten_seconds(text, "full")};
}

void PressureSampler::sample(std::vector<Metric>& out) {
  const auto add = [&out](ProcFile& file, std::string_view some, std::string_view full) {
    if (!file.available()) return;
    const Pressure pressure = parse_pressure(file.read());
    if (pressure.some) out.push_back({"pressure", some, "", Metric::kNoDevice, *pressure.some});
    if (pressure.full) out.push_back({"pressure", full, "", Metric::kNoDevice, *pressure.full});
  };
  add(cpu_, "CPUPressureSome", "CPUPressureFull");
  add(io_, "IOPressureSome", "IOPressureFull");
  add(memory_, "MemoryPressureSome", "MemoryPressureFull");
}

}  // namespace trainwatch
