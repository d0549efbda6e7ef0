// SPDX-License-Identifier: Apache-2.0
// OTLP as JSON (opentelemetry-proto, "JSON Protobuf Encoding"): attributes, and numbers that may be
// strings.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/json_walk.h"
#include "trainwatch/time.h"

namespace trainwatch {

// Calls each(key, value) for every attribute of a list whose value is a string, a number or a truth
// value, as raw text; other attributes are passed over.
template <class Each>
void each_attribute(std::string_view list, Each&& each) {
  each_element(list, [&each](std::string_view attribute) {
    std::string_view key;
    std::string_view value;
    each_member(attribute, [&](std::string_view name, std::string_view text) {
      if (name == "key") key = between_quotes(text);
      if (name != "value") return;
      each_member(text, [&value](std::string_view, std::string_view inner) { value = inner; });
    });
    if (!key.empty() && !value.starts_with('{') && !value.starts_with('[')) each(key, value);
  });
}

// "NaN" and infinities are strings. nullopt: no number.
inline std::optional<double> otlp_number(std::string_view token) {
  return parse_number(plain_token(token));
}

// Nanoseconds since 1970. nullopt: none that is after it.
inline std::optional<Time> otlp_time(std::string_view token) {
  const auto ns = parse_time_ns(plain_token(token), TimeUnit::nanoseconds);
  return ns && *ns > 0 ? std::optional(time_from_ns(*ns)) : std::nullopt;
}

}  // namespace trainwatch
