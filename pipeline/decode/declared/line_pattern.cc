#include "pipeline/decode/declared/line_pattern.h"

#include <cassert>

#include "pipeline/decode/decimal_time.h"

namespace trainwatch {
namespace {

constexpr int kMostGroups = 8;

re2::StringPiece piece_of(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

LinePattern::LinePattern(const FormatDeclaration& declaration)
    : declaration_(declaration), pattern_(piece_of(declaration.line), re2::RE2::Quiet) {
  assert(pattern_.ok() && pattern_.NumberOfCapturingGroups() < kMostGroups);
  constexpr std::array<const char*, Group::count> kNames = {"step", "time", "epoch", "of"};
  const auto& groups = pattern_.NamedCapturingGroups();
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (const auto found = groups.find(kNames[i]); found != groups.end()) index_[i] = found->second;
  }
}

std::optional<LinePattern::Match> LinePattern::match(std::string_view line) const {
  std::array<re2::StringPiece, kMostGroups> groups;
  const int wanted = pattern_.NumberOfCapturingGroups() + 1;
  if (!pattern_.Match(piece_of(line), 0, line.size(), re2::RE2::UNANCHORED, groups.data(),
                      wanted)) {
    return std::nullopt;
  }
  const auto text = [&](Group group) -> std::string_view {
    if (index_[group] == 0) return {};
    const re2::StringPiece& found = groups[static_cast<std::size_t>(index_[group])];
    return {found.data(), found.size()};
  };
  Match match;
  match.step = parse_digits(text(Group::step)).value_or(kNoStep);
  const auto epochs = parse_digits(text(Group::epoch));
  const auto per_epoch = parse_digits(text(Group::of));
  constexpr std::int64_t kMost = 1'000'000'000;
  if (epochs && per_epoch && *epochs < kMost && *per_epoch < kMost) {
    match.step += *epochs * *per_epoch;
  }
  if (!text(Group::time).empty()) match.at = local_time(text(Group::time));
  return match;
}

}  // namespace trainwatch
