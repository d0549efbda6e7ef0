// A format of lines with scalars that is data, not code: how a line of it is known, and what its
// values mean. The table is presets.cc.
#pragma once

#include <span>
#include <string_view>

#include "trainwatch/scalar.h"

namespace trainwatch {

struct DeclaredField {
  std::string_view key{};  // as written before a colon or an equals sign
  ScalarKind kind = ScalarKind::other;
  double scale = 1;       // to the unit of the kind; units that a value names come on top
  bool interval = false;  // the mean over the steps since the last record
};

struct FormatDeclaration {
  std::string_view name{};
  std::span<const std::string_view> has{};  // literals; a record contains at least one
  // RE2 syntax: finds a record. Groups: `step`; `time`, "Y-m-d H:M:S" of the local zone; `epoch`
  // and `of` where steps are counted within an epoch of so many.
  std::string_view line{};
  std::span<const DeclaredField> fields{};
  bool step_from_bar = false;  // the step is that of the last progress bar of tqdm
};

// Those of console lines, in the order in which they win where as many fields are found.
std::span<const FormatDeclaration> console_presets();

}  // namespace trainwatch
