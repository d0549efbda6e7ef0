// SPDX-License-Identifier: Apache-2.0
#include "pipeline/profile/python_function.h"

#include <simdjson.h>

namespace trainwatch {

std::string valid_utf8(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return std::string{text};
  std::string repaired;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x80) {
      repaired += c;
    } else {
      repaired += "\xEF\xBF\xBD";
    }
  }
  return repaired;
}

}  // namespace trainwatch
