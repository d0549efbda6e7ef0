// SPDX-License-Identifier: Apache-2.0
// The line "scalar" of rule cases.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "rules/words.h"
#include "trainwatch/result.h"
#include "trainwatch/scalar.h"

namespace trainwatch::cases {

struct ScalarLine {
  std::string_view tag;
  std::int64_t first = 0;
  std::int64_t last = 0;
  double from = 0;
  double to = 0;
  ScalarKind kind = ScalarKind::other;
  double every = 1;
  double jitter = 0;
  std::int64_t stride = 1;
  double data = -1;           // seconds of waiting for data, in the same record
  std::string_view beside{};  // tags of other values of the same record, between commas
  bool numbers = true;
  bool timed = true;

  double value(std::int64_t number) const {
    if (from == to || first == last) return from;
    return from +
           (to - from) * static_cast<double>(number - first) / static_cast<double>(last - first);
  }
};

inline bool read_kind(std::string_view text, ScalarKind& out) {
  for (int i = 0; i < static_cast<int>(ScalarKind::count_); ++i) {
    out = static_cast<ScalarKind>(i);
    if (to_string(out) == text) return true;
  }
  out = ScalarKind::other;
  return false;
}

inline Result<ScalarLine> read_scalar_line(const Words& words) {
  ScalarLine line;
  if (words.size() < 4 || words.size() % 2 != 0 || !read_range(words[2], line.first, line.last) ||
      !read_range(words[3], line.from, line.to)) {
    return Error{"scalar TAG A..B V [options]"};
  }
  line.tag = words[1];
  (void)read_kind(line.tag, line.kind);
  for (std::size_t i = 4; i < words.size(); i += 2) {
    const std::string_view name = words[i];
    const std::string_view text = words[i + 1];
    const bool known = (name == "kind" && read_kind(text, line.kind)) ||
                       (name == "every" && read(text, line.every)) ||
                       (name == "jitter" && read(text, line.jitter)) ||
                       (name == "stride" && read(text, line.stride)) ||
                       (name == "data" && read(text, line.data));
    if (name == "beside") {
      line.beside = text;
      continue;
    }
    if (known) continue;
    if (name == "numbers" && text == "no") {
      line.numbers = false;
    } else if (name == "timed" && text == "no") {
      line.timed = false;
    } else {
      return Error{"cannot read '" + std::string(name) + " " + std::string(text) + "'"};
    }
  }
  return line;
}

}  // namespace trainwatch::cases
