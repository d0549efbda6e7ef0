// SPDX-License-Identifier: Apache-2.0
// All declared formats that a trainwatch knows: the presets, and before them those of its
// configuration. Made once, never changed, and shared by every decoder.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "pipeline/decode/declared/declaration.h"
#include "pipeline/decode/declared/line_pattern.h"

namespace trainwatch {

class DeclaredFormats {
 public:
  // `own` win over presets where both know a file. Their patterns are sound.
  explicit DeclaredFormats(std::vector<FormatDeclaration> own = {});

  std::span<const LinePattern> lines() const { return lines_; }
  std::span<const FormatDeclaration> json() const { return json_; }
  std::span<const FormatDeclaration> csv() const { return csv_; }
  // In the order in which they were given, the presets last.
  std::vector<const FormatDeclaration*> all() const;

  // What was given, or the presets alone.
  static const DeclaredFormats& or_presets(const DeclaredFormats* given);

 private:
  void add(std::vector<FormatDeclaration> declarations);

  std::vector<LinePattern> lines_;
  std::vector<FormatDeclaration> json_;
  std::vector<FormatDeclaration> csv_;
};

// Whether the last part of `path`, without ".gz", is one of the names of the format.
bool is_named_for(const FormatDeclaration& format, std::string_view path);

}  // namespace trainwatch
