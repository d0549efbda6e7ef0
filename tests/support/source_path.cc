// SPDX-License-Identifier: Apache-2.0
#include "support/source_path.h"

namespace trainwatch {

std::string source_path(std::string_view path) {
  return std::string(TRAINWATCH_SOURCE_DIR "/").append(path);
}

}  // namespace trainwatch
