// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/line_pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <string>
#include <utility>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/digits_alike.h"
#include "pipeline/decode/declared/scalar_text.h"

namespace trainwatch {
namespace {

using Part = LineLayout::Part;
using Groups = std::array<re2::StringPiece, LinePattern::kMostGroups>;

re2::StringPiece piece_of(std::string_view text) {
  return {text.data(), text.size()};
}

Part part_of(std::string_view line, const re2::StringPiece& group) {
  if (group.empty()) return {};
  return {static_cast<std::uint32_t>(group.data() - line.data()),
          static_cast<std::uint32_t>(group.size())};
}

// To the end of the line: the value says itself where it ends.
Part part_behind(std::string_view line, std::size_t begin) {
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(line.size() - begin)};
}

// Also "12,500".
std::optional<std::int64_t> count_in(std::string_view text) {
  if (text.find(',') == std::string_view::npos) return parse_digits(text);
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), [](char c) { return c != ','; });
  return parse_digits(digits);
}

bool has_digit(std::string_view text) {
  return std::ranges::any_of(text, is_digit);
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
      pattern_(std::make_unique<re2::RE2>(piece_of(declaration_.line), re2::RE2::Quiet)),
      ignores_digits_(takes_digits_alike(declaration_.line) &&
                      std::ranges::none_of(declaration_.has, has_digit)) {
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
    if (group_of_.back() == 0 && has_digit(field.key)) ignores_digits_ = false;
  }
}

LinePattern::LinePattern(LinePattern&&) noexcept = default;
LinePattern& LinePattern::operator=(LinePattern&&) noexcept = default;
LinePattern::~LinePattern() = default;

bool LinePattern::find(std::string_view line, LineLayout& layout) const {
  Groups groups;
  const int wanted = pattern_->NumberOfCapturingGroups() + 1;
  if (!pattern_->Match(piece_of(line), 0, line.size(), re2::RE2::UNANCHORED, groups.data(),
                       wanted)) {
    return false;
  }
  groups[0] = {};  // stands for those that the pattern does not have
  layout.step = part_of(line, groups[index_[step_group]]);
  layout.time = part_of(line, groups[index_[time_group]]);
  layout.epoch = part_of(line, groups[index_[epoch_group]]);
  layout.epoch_steps = part_of(line, groups[index_[epoch_steps_group]]);
  layout.values.clear();
  for (std::size_t i = 0; i < declaration_.fields.size(); ++i) {
    if (group_of_[i] != 0) {
      layout.values.push_back(part_of(line, groups[group_of_[i]]));
    } else {
      const auto begin = place_of_scalar(line, declaration_.fields[i].key, declaration_.blanks);
      layout.values.push_back(begin ? part_behind(line, *begin) : Part{});
    }
  }
  return true;
}

EpochPlace LinePattern::place(std::string_view line, const LineLayout& layout,
                              std::int64_t epoch) const {
  EpochPlace place;
  place.count = count_in(layout.step.of(line)).value_or(kNoStep);
  place.epoch = count_in(layout.epoch.of(line)).value_or(epoch);
  place.of = count_in(layout.epoch_steps.of(line)).value_or(0);
  return place;
}

std::optional<double> LinePattern::value(std::size_t field, std::string_view line,
                                         const LineLayout& layout) const {
  const std::string_view text = layout.values[field].of(line);
  return text.empty() ? std::nullopt : scalar_at(text, declaration_.fields[field].kind);
}

}  // namespace trainwatch
