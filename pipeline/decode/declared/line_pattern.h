// A declaration of console lines, compiled.
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
#include "pipeline/decode/declared/scalar_text.h"
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

  struct Match {
    std::int64_t step = kNoStep;
    std::string_view time{};  // as written; empty: the line has none
    std::array<std::string_view, kMostGroups> groups{};
  };
  // nullopt: no record in this line. Takes time linear in the line, of which the match has parts.
  std::optional<Match> match(std::string_view line) const;
  // The value of `field`, one of the declaration's, in a line that matched.
  std::optional<double> value(const DeclaredField& field, const Match& match,
                              std::string_view line) const;

  const FormatDeclaration& declaration() const { return declaration_; }

 private:
  enum Group : std::uint8_t { step, time, epoch, of, count };

  FormatDeclaration declaration_;
  std::unique_ptr<re2::RE2> pattern_;
  std::array<std::size_t, Group::count> index_{};  // 0: no such group
  std::vector<std::size_t> group_of_;              // of each field; 0: it has none
};

}  // namespace trainwatch
