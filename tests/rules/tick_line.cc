#include "rules/tick_line.h"

#include <limits>
#include <string>
#include <utility>

namespace trainwatch::cases {
namespace {

bool read_device(std::string_view text, TickLine::Device& out) {
  constexpr std::pair<std::string_view, Resource> kResources[] = {
      {"cpu", Resource::cpu_utilization},
      {"iow", Resource::cpu_io_wait},
      {"gpu", Resource::gpu_utilization},
      {"mem", Resource::gpu_memory_utilization}};
  out.name = text;
  for (const auto& [prefix, resource] : kResources) {
    if (!text.starts_with(prefix)) continue;
    out.resource = resource;
    return read(text.substr(prefix.size()), out.number);
  }
  return false;
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
    return Error{"ticks COUNT DEVICE=VALUES..."};
  }
  for (std::size_t i = 2; i < words.size(); ++i) {
    const Words parts = split(words[i], '=');
    TickLine::Device& device = line.devices.emplace_back();
    if (parts.size() != 2 || !read_device(parts[0], device) ||
        !read_values(parts[1], device.values)) {
      return Error{"cannot read '" + std::string(words[i]) + "'"};
    }
  }
  return line;
}

}  // namespace trainwatch::cases
