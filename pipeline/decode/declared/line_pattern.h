// A declaration of console lines, compiled.
#pragma once

#include <re2/re2.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "pipeline/decode/declared/declaration.h"
#include "pipeline/decode/declared/scalar_text.h"
#include "trainwatch/event.h"

namespace trainwatch {

class LinePattern {
 public:
  // The declaration outlives the pattern.
  explicit LinePattern(const FormatDeclaration& declaration);

  struct Match {
    std::int64_t step = kNoStep;
    std::optional<Time> at;
  };
  // nullopt: no record in this line. Takes time linear in the line.
  std::optional<Match> match(std::string_view line) const;

  const FormatDeclaration& declaration() const { return declaration_; }

 private:
  enum Group : std::uint8_t { step, time, epoch, of, count };

  const FormatDeclaration& declaration_;
  re2::RE2 pattern_;
  std::array<int, Group::count> index_{};  // 0: no such group
};

}  // namespace trainwatch
