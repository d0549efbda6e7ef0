// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/client_limit_field.h"

#include <array>

#include "daemon/config/config_fields.h"
#include "daemon/config/config_text.h"

namespace trainwatch {
namespace {

constexpr std::array kLimitTypes = {"number", "size", "duration"};  // by ClientLimit::Unit

std::string print_limit(ClientLimit::Unit unit, std::uint64_t value) {
  if (unit == ClientLimit::Unit::bytes) return print_size(value);
  if (unit == ClientLimit::Unit::count) return std::to_string(value);
  return print_duration(std::chrono::milliseconds{static_cast<std::int64_t>(value)});
}

Result<std::uint64_t> parse_limit(ClientLimit::Unit unit, std::string_view text) {
  if (unit == ClientLimit::Unit::bytes) return parse_size(text);
  if (unit == ClientLimit::Unit::count) {
    const auto number = parse_whole_number(text);
    if (!number) return number.error();
    if (*number < 0) return Error{std::string(text) + " is negative"};
    return static_cast<std::uint64_t>(*number);
  }
  const auto duration = parse_duration(text);
  if (!duration) return duration.error();
  return static_cast<std::uint64_t>(
      std::chrono::ceil<std::chrono::milliseconds>(*duration).count());
}

}  // namespace

ConfigField<Config> client_limit_field(const ClientLimit& limit) {
  const std::string bounds =
      print_limit(limit.unit, limit.min) + ".." + print_limit(limit.unit, limit.max);
  return {
      limit.key,
      kLimitTypes[static_cast<std::size_t>(limit.unit)],
      bounds,
      limit.help,
      false,
      [limit, bounds](Config& config, std::span<const std::string> values) -> Status {
        const auto value = parse_limit(limit.unit, values[0]);
        if (!value) return value.error();
        if (*value < limit.min || *value > limit.max) {
          return config_fields::outside(values[0], bounds);
        }
        limit.set(config.clients, *value);
        return success();
      },
      [limit](const Config& config) { return print_limit(limit.unit, limit.get(config.clients)); }};
}

}  // namespace trainwatch
