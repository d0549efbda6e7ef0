// SPDX-License-Identifier: Apache-2.0
// A declaration of console lines, compiled: how a record is found in a line, and where its parts
// are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/declared/declaration.h"
#include "pipeline/decode/declared/epoch_steps.h"
#include "pipeline/decode/declared/line_layout.h"
#include "trainwatch/event.h"

namespace re2 {
class RE2;
}

namespace trainwatch {

// What is wrong with a pattern of lines; nullopt: nothing.
std::optional<std::string> error_in_line_pattern(const std::string& pattern);

// Any number of threads may use it at once.
class LinePattern {
 public:
  // The pattern of the declaration is sound.
  explicit LinePattern(FormatDeclaration declaration);
  LinePattern(LinePattern&&) noexcept;
  LinePattern& operator=(LinePattern&&) noexcept;
  ~LinePattern();

  static constexpr int kMostGroups = 24;

  // Where the parts of a record are; false: there is no record in this line. Takes time linear in
  // the line.
  bool find(std::string_view line, LineLayout& layout) const;
  // Whether lines that differ in digits only have the same layout.
  bool ignores_digits() const { return ignores_digits_; }

  // Of a line and its layout. `epoch`: of a line before, where this one has none; kNoStep: there is
  // none either. The value is that of the field with this number.
  EpochPlace place(std::string_view line, const LineLayout& layout,
                   std::int64_t epoch = kNoStep) const;
  std::optional<double> value(std::size_t field, std::string_view line,
                              const LineLayout& layout) const;

  const FormatDeclaration& declaration() const { return declaration_; }

 private:
  enum Group : std::uint8_t { step_group, time_group, epoch_group, epoch_steps_group, count };

  FormatDeclaration declaration_;
  std::unique_ptr<re2::RE2> pattern_;
  std::array<std::size_t, Group::count> index_{};  // 0: no such group
  std::vector<std::size_t> group_of_;              // of each field; 0: it has none
  bool ignores_digits_ = false;
};

}  // namespace trainwatch
