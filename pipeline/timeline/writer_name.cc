// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/writer_name.h"

#include <algorithm>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/path_metadata.h"

namespace trainwatch {

std::string timeline_writer_name(std::string_view path) {
  std::string_view name = base_name(path);
  name = name.substr(0, name.find(".json"));
  const std::size_t first = name.find('_');
  if (name.find("timeline") == std::string_view::npos || first == std::string_view::npos)
    return std::string(name);
  // A stamp stands before the writer once the file is closed.
  std::string_view writer = name.substr(0, first);
  if (std::ranges::all_of(writer, is_digit) && writer.size() > 9) {
    writer = name.substr(first + 1);
    writer = writer.substr(0, writer.find('_'));
  }
  const std::size_t node = writer.rfind("-algo");
  if (node == std::string_view::npos) return std::string(writer);
  return std::string(writer.substr(node + 1)).append("-").append(writer.substr(0, node));
}

}  // namespace trainwatch
