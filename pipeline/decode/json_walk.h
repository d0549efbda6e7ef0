// SPDX-License-Identifier: Apache-2.0
// Walks through the elements of lists and the members of objects, for records whose values lie in
// each other. Nothing is copied; what is nested deeper than JsonCursor reads ends the walk.
#pragma once

#include <algorithm>
#include <string_view>

#include "pipeline/decode/json_cursor.h"

namespace trainwatch {

// Calls each(element) with the raw text of every element of a list. False: it is no list, or broken
// behind the elements that were passed on.
template <class Each>
bool each_element(std::string_view list, Each&& each) {
  if (!list.starts_with('[')) return false;
  for (std::string_view rest = list.substr(1);;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n,"), rest.size()));
    if (rest.empty()) return false;
    if (rest.front() == ']') return true;
    JsonCursor cursor{rest};
    const std::string_view element = cursor.value();
    if (cursor.failed() || element.empty()) return false;
    each(element);
    rest = cursor.rest();
  }
}

// Calls each(key, value) for every member of an object. False: it is no object, or broken.
template <class Each>
bool each_member(std::string_view object, Each&& each) {
  JsonCursor cursor{object};
  if (!cursor.enter()) return false;
  for (std::string_view key; cursor.next(key);) each(key, cursor.value());
  return !cursor.failed();
}

// What a string or a number token says, without quotes.
inline std::string_view plain_token(std::string_view token) {
  return is_string_token(token) ? between_quotes(token) : token;
}

}  // namespace trainwatch
