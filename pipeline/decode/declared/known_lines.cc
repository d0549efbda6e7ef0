// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/known_lines.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pipeline/decode/declared/scalar_text.h"

namespace trainwatch {

bool has_one_of(const std::vector<std::string>& literals, std::string_view line) {
  return std::ranges::any_of(literals, [line](const std::string& text) {
    return find_text(line, text) != std::string_view::npos;
  });
}

const LineLayout* KnownLines::read(std::string_view line, bool remember) {
  std::size_t most = 0;
  // Whether another line of this shape is read alike depends on all that were asked.
  bool alike = true;
  for (std::size_t i = 0; i < patterns_.size(); ++i) {
    const LinePattern& pattern = patterns_[i];
    if (!has_one_of(pattern.declaration().has, line)) continue;
    alike = alike && pattern.ignores_digits();
    if (!pattern.find(line, found_)) continue;
    std::size_t fields = pattern.declaration().block ? 1 : 0;
    for (std::size_t field = 0; field < found_.values.size(); ++field) {
      if (pattern.value(field, line, found_)) ++fields;
    }
    if (fields <= most) continue;
    most = fields;
    found_.format = i;
    std::swap(best_, found_);
  }
  if (most == 0) return nullptr;
  if (remember && alike) layouts_.add(best_);
  return &best_;
}

}  // namespace trainwatch
