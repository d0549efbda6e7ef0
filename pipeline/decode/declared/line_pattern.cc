#include "pipeline/decode/declared/line_pattern.h"

#include <re2/re2.h>

#include <cassert>
#include <utility>

#include "pipeline/decode/decimal_time.h"

namespace trainwatch {
namespace {

re2::StringPiece piece_of(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

std::optional<std::string> error_in_line_pattern(const std::string& pattern) {
  const re2::RE2 compiled(pattern, re2::RE2::Quiet);
  if (!compiled.ok()) return "is no pattern of RE2: " + compiled.error();
  if (compiled.NumberOfCapturingGroups() >= LinePattern::kMostGroups) {
    return "has more than " + std::to_string(LinePattern::kMostGroups - 1) + " groups";
  }
  return std::nullopt;
}

LinePattern::LinePattern(FormatDeclaration declaration)
    : declaration_(std::move(declaration)),
      pattern_(std::make_unique<re2::RE2>(piece_of(declaration_.line), re2::RE2::Quiet)) {
  assert(pattern_->ok() && pattern_->NumberOfCapturingGroups() < kMostGroups);
  const auto or_default = [](const std::string& name, const char* otherwise) {
    return name.empty() ? std::string(otherwise) : name;
  };
  const std::array<std::string, Group::count> names = {
      or_default(declaration_.step, "step"), or_default(declaration_.time, "time"), "epoch", "of"};
  const auto& groups = pattern_->NamedCapturingGroups();
  const auto number_of = [&groups](const std::string& name) {
    const auto found = groups.find(name);
    return found == groups.end() ? std::size_t{0} : static_cast<std::size_t>(found->second);
  };
  for (std::size_t i = 0; i < names.size(); ++i) index_[i] = number_of(names[i]);
  for (const DeclaredField& field : declaration_.fields) {
    group_of_.push_back(number_of(field.key));
  }
}

LinePattern::LinePattern(LinePattern&&) noexcept = default;
LinePattern& LinePattern::operator=(LinePattern&&) noexcept = default;
LinePattern::~LinePattern() = default;

std::optional<LinePattern::Match> LinePattern::match(std::string_view line) const {
  std::array<re2::StringPiece, kMostGroups> groups;
  const int wanted = pattern_->NumberOfCapturingGroups() + 1;
  if (!pattern_->Match(piece_of(line), 0, line.size(), re2::RE2::UNANCHORED, groups.data(),
                       wanted)) {
    return std::nullopt;
  }
  Match match;
  for (std::size_t i = 1; i < static_cast<std::size_t>(wanted); ++i) {
    match.groups[i] = {groups[i].data(), groups[i].size()};
  }
  const auto number = [&](Group group) { return parse_digits(match.groups[index_[group]]); };
  match.step = number(Group::step).value_or(kNoStep);
  const auto epochs = number(Group::epoch);
  const auto per_epoch = number(Group::of);
  constexpr std::int64_t kMost = 1'000'000'000;
  if (epochs && per_epoch && *epochs < kMost && *per_epoch < kMost) {
    match.step += *epochs * *per_epoch;
  }
  match.time = match.groups[index_[Group::time]];
  return match;
}

std::optional<double> LinePattern::value(const DeclaredField& field, const Match& match,
                                         std::string_view line) const {
  const auto number = static_cast<std::size_t>(&field - declaration_.fields.data());
  const std::size_t group = group_of_[number];
  if (group == 0) return scalar_of(line, field.key, field.kind);
  return match.groups[group].empty() ? std::nullopt : scalar_at(match.groups[group], field.kind);
}

}  // namespace trainwatch
