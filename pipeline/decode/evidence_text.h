// SPDX-License-Identifier: Apache-2.0
// A line as evidence: valid text without blanks at both ends, cut to fit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "trainwatch/run_note.h"
#include "trainwatch/valid_text.h"

namespace trainwatch {

// How much of `text` fits without cutting a character in two.
inline std::size_t fitting_size(std::string_view text) {
  std::size_t size = std::min(text.size(), EndEvidence::kMostText);
  const auto cuts = [text](std::size_t at) {
    return at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  while (cuts(size)) --size;
  return size;
}

inline std::string evidence_text(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  line = line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
  std::string text = valid_text(line.substr(0, fitting_size(line)));
  text.resize(fitting_size(text));
  return text;
}

}  // namespace trainwatch
