// SPDX-License-Identifier: Apache-2.0
#include "rules/tick_line.h"

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <utility>

namespace trainwatch::cases {
namespace {

bool read_device(std::string_view text, TickLine::Device& out) {
  constexpr std::pair<std::string_view, Resource> kResources[] = {
      {"cpu", Resource::cpu_utilization},
      {"iow", Resource::cpu_io_wait},
      {"gpu", Resource::gpu_utilization},
      {"mem", Resource::gpu_memory_utilization},
      {"ram", Resource::memory_used},
      {"clk", Resource::gpu_sm_clock},
      {"thr", Resource::gpu_throttle_reasons},
      {"pow", Resource::gpu_power},
      {"xid", Resource::gpu_xid},
      {"ecc", Resource::gpu_ecc_errors}};
  out.name = text;
  for (const auto& [prefix, resource] : kResources) {
    if (!text.starts_with(prefix)) continue;
    out.resource = resource;
    return read(text.substr(prefix.size()), out.number);
  }
  return false;
}

// "30..60" -> `count` values from the one to the other; "30..60~2": each up to 2 away from there.
bool read_ramp(std::string_view text, std::int64_t count, std::vector<double>& out) {
  const std::size_t dots = text.find("..");
  const std::size_t tilde = std::min(text.find('~'), text.size());
  double from = 0;
  double to = 0;
  double noise = 0;
  if (!read(text.substr(0, dots), from) || !read(text.substr(dots + 2, tilde - dots - 2), to) ||
      (tilde < text.size() && !read(text.substr(tilde + 1), noise))) {
    return false;
  }
  std::mt19937_64 random(1);
  for (std::int64_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count);
    const double uniform = static_cast<double>(random() >> 11U) * 0x1p-53;
    out.push_back(from + (to - from) * share + noise * (2 * uniform - 1));
  }
  return !out.empty();
}

// "97*7,40*3" -> seven times 97, three times 40; "-" is no sample.
bool read_values(std::string_view text, std::vector<double>& out) {
  for (const std::string_view part : split(text, ',')) {
    const Words factors = split(part, '*');
    double value = std::numeric_limits<double>::infinity();
    std::int64_t times = 1;
    if (factors.empty() || (factors[0] != "-" && !read(factors[0], value))) return false;
    if (factors.size() > 1 && !read(factors[1], times)) return false;
    out.insert(out.end(), static_cast<std::size_t>(times), value);
  }
  return !out.empty();
}

}  // namespace

Result<TickLine> read_tick_line(const Words& words) {
  TickLine line;
  if (words.size() < 3 || !read(words[1], line.count)) {
    return Error{"ticks COUNT DEVICE=VALUES... [every SECONDS]"};
  }
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "every" && i + 1 < words.size() && read(words[i + 1], line.seconds)) {
      ++i;
      continue;
    }
    const Words parts = split(words[i], '=');
    TickLine::Device& device = line.devices.emplace_back();
    if (parts.size() != 2 || !read_device(parts[0], device) ||
        !(parts[1].find("..") == std::string_view::npos
              ? read_values(parts[1], device.values)
              : read_ramp(parts[1], line.count, device.values))) {
      return Error{"cannot read '" + std::string(words[i]) + "'"};
    }
  }
  return line;
}

}  // namespace trainwatch::cases
