// SPDX-License-Identifier: Apache-2.0
// Finds the declared format that reads a line. A text may have lines of several: each line is asked
// of all of them, and where more than one knows it the one that finds more fields reads it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "pipeline/decode/declared/line_layout.h"
#include "pipeline/decode/declared/line_pattern.h"

namespace trainwatch {

class KnownLines {
 public:
  // The patterns outlive the object.
  explicit KnownLines(std::span<const LinePattern> patterns) : patterns_(patterns) {}

  // The layout of a line that differs from an earlier one in digits only. Null: it is not known.
  // Valid until the next call.
  const LineLayout* recall(std::string_view line) { return layouts_.find(line); }
  // Asks every format; after recall() of the same line. Null: none knows it. `remember`: nothing
  // else is in the line that somebody wants to see each time.
  const LineLayout* read(std::string_view line, bool remember);

  const LinePattern& pattern(std::size_t format) const { return patterns_[format]; }
  const FormatDeclaration& declaration(std::size_t format) const {
    return patterns_[format].declaration();
  }
  std::size_t size() const { return patterns_.size(); }

 private:
  std::span<const LinePattern> patterns_;
  LineLayouts layouts_;
  // Reused.
  LineLayout best_;
  LineLayout found_;
};

// Whether one of the literals is in the line.
bool has_one_of(const std::vector<std::string>& literals, std::string_view line);

}  // namespace trainwatch
