// SPDX-License-Identifier: Apache-2.0
// Makes rows for the tables of config_table.h, one function per type of value. `member` maps a
// Target to what it holds: [](auto& c) -> auto& { return c.tail.poll_interval; }
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "daemon/config/config_table.h"
#include "daemon/config/config_text.h"

namespace trainwatch::config_fields {

using Values = std::span<const std::string>;

inline Error outside(std::string_view text, const std::string& bounds) {
  return Error{std::string(text) + " is outside " + bounds};
}

template <class Target, class Member>
ConfigField<Target> duration_field(std::string_view key, Member member, Nanos min, Nanos max,
                                   std::string_view help) {
  const std::string bounds = print_duration(min) + ".." + print_duration(max);
  return {key,
          "duration",
          bounds,
          help,
          false,
          [=](Target& target, Values values) -> Status {
            const auto parsed = parse_duration(values[0]);
            if (!parsed) return parsed.error();
            if (*parsed < min || *parsed > max) return outside(values[0], bounds);
            member(target) = *parsed;
            return success();
          },
          [=](const Target& target) { return print_duration(member(target)); }};
}

template <class Target, class Member>
ConfigField<Target> size_field(std::string_view key, Member member, std::uint64_t min,
                               std::uint64_t max, std::string_view help) {
  const std::string bounds = print_size(min) + ".." + print_size(max);
  return {key,
          "size",
          bounds,
          help,
          false,
          [=](Target& target, Values values) -> Status {
            const auto parsed = parse_size(values[0]);
            if (!parsed) return parsed.error();
            if (*parsed < min || *parsed > max) return outside(values[0], bounds);
            member(target) = *parsed;
            return success();
          },
          [=](const Target& target) { return print_size(member(target)); }};
}

template <class Target, class Member>
ConfigField<Target> count_field(std::string_view key, Member member, std::int64_t min,
                                std::int64_t max, std::string_view help) {
  const std::string bounds = std::to_string(min) + ".." + std::to_string(max);
  return {key,
          "number",
          bounds,
          help,
          false,
          [=](Target& target, Values values) -> Status {
            const auto parsed = parse_whole_number(values[0]);
            if (!parsed) return parsed.error();
            if (*parsed < min || *parsed > max) return outside(values[0], bounds);
            using Number = std::remove_reference_t<decltype(member(target))>;
            member(target) = static_cast<Number>(*parsed);
            return success();
          },
          [=](const Target& target) { return std::to_string(member(target)); }};
}

template <class Target, class Member>
ConfigField<Target> text_field(std::string_view key, Member member, std::string_view help) {
  return {key,
          "text",
          "",
          help,
          false,
          [=](Target& target, Values values) -> Status {
            if (values[0].empty()) return Error{"is empty"};
            member(target) = values[0];
            return success();
          },
          [=](const Target& target) { return member(target); }};
}

template <class Target, class Member>
ConfigField<Target> boolean_field(std::string_view key, Member member, std::string_view help) {
  return {key,
          "boolean",
          "true|false",
          help,
          false,
          [=](Target& target, Values values) -> Status {
            const auto parsed = parse_boolean(values[0]);
            if (!parsed) return parsed.error();
            member(target) = *parsed;
            return success();
          },
          [=](const Target& target) { return member(target) ? "true" : "false"; }};
}

// The position of a word in `choices`, joined by '|', is the value of the enumeration.
template <class Target, class Member>
ConfigField<Target> choice_field(std::string_view key, Member member,
                                 const std::vector<std::string_view>& choices,
                                 std::string_view help) {
  std::string bounds;
  for (const std::string_view choice : choices) {
    bounds.append(bounds.empty() ? "" : "|").append(choice);
  }
  return {key,
          "choice",
          bounds,
          help,
          false,
          [=](Target& target, Values values) -> Status {
            for (std::size_t i = 0; i < choices.size(); ++i) {
              if (choices[i] != values[0]) continue;
              using Choice = std::remove_reference_t<decltype(member(target))>;
              member(target) = static_cast<Choice>(i);
              return success();
            }
            return Error{"'" + values[0] + "' is not one of " + bounds};
          },
          [=](const Target& target) {
            return std::string(choices[static_cast<std::size_t>(member(target))]);
          }};
}

}  // namespace trainwatch::config_fields
