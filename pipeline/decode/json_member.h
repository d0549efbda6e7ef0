// SPDX-License-Identifier: Apache-2.0
// Members of parsed JSON objects that may be missing.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "trainwatch/time.h"

namespace trainwatch {

// Empty: there is no such member, or it is not a string.
inline std::string text_member(const simdjson::dom::element& object, const char* name) {
  std::string_view text;
  if (object[name].get_string().get(text) != simdjson::SUCCESS) return {};
  return std::string(text);
}

// Empty: there is no such member, or it is not an integer.
inline std::string number_member(const simdjson::dom::element& object, const char* name) {
  std::int64_t number = 0;
  if (object[name].get_int64().get(number) != simdjson::SUCCESS) return {};
  return std::to_string(number);
}

// kNoTime: there is no such member, or it is not what to_rfc3339() prints.
inline Time time_member(const simdjson::dom::element& object, const char* name) {
  return time_from_rfc3339(text_member(object, name));
}

}  // namespace trainwatch
