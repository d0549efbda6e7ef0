// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/state_io.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trainwatch::testing::state_io_test {

// Odd subjects are gone, the others are half of what they were; below 100 all were given.
class EvenSubjects final : public SavedIds {
 public:
  Fate translate(SubjectId& id) override {
    const auto number = static_cast<std::uint32_t>(id);
    if (number >= 100) return Fate::invalid;
    if (number % 2 == 1) return Fate::gone;
    id = static_cast<SubjectId>(number / 2);
    return Fate::kept;
  }
  Fate translate(SeriesId&) override { return Fate::kept; }
  Fate translate(Symbol&) override { return Fate::kept; }
};

SubjectId subject(std::uint32_t number) {
  return static_cast<SubjectId>(number);
}

// A value of `saved`'s type as loaded from its bytes; nullopt: it is not complete.
template <class T>
std::optional<T> aged(T saved) {
  StateIo out = StateIo::saving();
  out(saved);
  const std::string bytes = out.take();
  EvenSubjects ids;
  StateIo in = StateIo::loading(bytes, &ids);
  T loaded{};
  in(loaded);
  return in.complete() ? std::optional<T>(std::move(loaded)) : std::nullopt;
}

struct Step {
  SubjectId of{};
  int number = 0;
  bool operator==(const Step&) const = default;
};

TEST(StateIo, IdsAreThoseOfToday) {
  EXPECT_EQ(aged(subject(8)), subject(4));
  EXPECT_EQ(aged(Step{subject(8), 7}), (Step{subject(4), 7}));
}

TEST(StateIo, WhatIsGoneAndPartOfNothingMakesTheWholeIncomplete) {
  EXPECT_EQ(aged(subject(7)), std::nullopt);
  EXPECT_EQ(aged(Step{subject(7), 7}), std::nullopt);
}

TEST(StateIo, AnIdThatWasNeverGivenIsDamage) {
  EXPECT_EQ(aged(std::vector{subject(8), subject(100)}), std::nullopt);
}

TEST(StateIo, ElementsThatAreGoneAreLeftOut) {
  const std::vector<Step> steps = {{subject(2), 10}, {subject(3), 11}, {subject(4), 12}};
  EXPECT_EQ(aged(steps), (std::vector<Step>{{subject(1), 10}, {subject(2), 12}}));
}

TEST(StateIo, MapsLoseEntriesWhoseKeyOrValueIsGone) {
  const std::map<SubjectId, Step> steps = {{subject(2), {subject(2), 10}},
                                           {subject(3), {subject(2), 11}},
                                           {subject(4), {subject(5), 12}}};
  EXPECT_EQ(aged(steps), (std::map<SubjectId, Step>{{subject(1), {subject(1), 10}}}));
}

TEST(StateIo, OnlyTheInnermostContainerIsSmaller) {
  const std::vector<std::vector<SubjectId>> nested = {
      {subject(1), subject(2)}, {subject(3)}, {subject(4)}};
  EXPECT_EQ(aged(nested), (std::vector<std::vector<SubjectId>>{{subject(1)}, {}, {subject(2)}}));
  const std::map<SubjectId, std::optional<SubjectId>> optional = {{subject(2), subject(3)}};
  EXPECT_EQ(aged(optional),
            (std::map<SubjectId, std::optional<SubjectId>>{{subject(1), std::nullopt}}));
}

// What comes before a container in the same element is gone still.
TEST(StateIo, AContainerDoesNotHideThatItsOwnerIsGone) {
  using Owner = std::pair<SubjectId, std::vector<SubjectId>>;
  const std::vector<Owner> owners = {{subject(1), {subject(2)}}, {subject(2), {subject(4)}}};
  EXPECT_EQ(aged(owners), (std::vector<Owner>{{subject(1), {subject(2)}}}));
}

TEST(StateIo, AVectorByIdMoves) {
  std::vector<int> saved = {10, 11, 12, 13, 14};
  StateIo out = StateIo::saving();
  out.by_id<SubjectId>(saved);
  const std::string bytes = out.take();
  EvenSubjects ids;
  StateIo in = StateIo::loading(bytes, &ids);
  std::vector<int> loaded;
  in.by_id<SubjectId>(loaded);
  EXPECT_TRUE(in.complete());
  EXPECT_EQ(loaded, (std::vector{10, 12, 14}));
}

}  // namespace trainwatch::testing::state_io_test
