// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/declared_formats.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "pipeline/decode/path_metadata.h"
#include "trainwatch/star_pattern.h"

namespace trainwatch {

DeclaredFormats::DeclaredFormats(std::vector<FormatDeclaration> own) {
  add(std::move(own));
  add(console_presets());
  add(file_presets());
}

void DeclaredFormats::add(std::vector<FormatDeclaration> declarations) {
  for (FormatDeclaration& declaration : declarations) {
    switch (declaration.kind) {
      case DeclaredKind::regex:
        lines_.emplace_back(std::move(declaration));
        break;
      case DeclaredKind::json:
        json_.push_back(std::move(declaration));
        break;
      case DeclaredKind::csv:
        csv_.push_back(std::move(declaration));
        break;
    }
  }
}

std::vector<const FormatDeclaration*> DeclaredFormats::all() const {
  std::vector<const FormatDeclaration*> all;
  for (const LinePattern& line : lines_) all.push_back(&line.declaration());
  for (const FormatDeclaration& format : json_) all.push_back(&format);
  for (const FormatDeclaration& format : csv_) all.push_back(&format);
  return all;
}

const DeclaredFormats& DeclaredFormats::or_presets(const DeclaredFormats* given) {
  static const DeclaredFormats kPresets;
  return given != nullptr ? *given : kPresets;
}

bool is_named_for(const FormatDeclaration& format, std::string_view path) {
  std::string_view name = base_name(path);
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return std::ranges::any_of(
      format.files, [name](const std::string& pattern) { return matches_star(pattern, name); });
}

}  // namespace trainwatch
