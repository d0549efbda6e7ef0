// SPDX-License-Identifier: Apache-2.0
#include "trainwatch/subject_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>

namespace trainwatch::testing::subject_map_test {

SubjectId subject(std::uint32_t number) {
  return static_cast<SubjectId>(number);
}

TEST(SubjectMap, AgreesWithAMapWhateverIsAskedWhen) {
  std::mt19937 random(3);
  SubjectMap<int> values;
  std::map<SubjectId, int> model;
  for (int round = 0; round < 20'000; ++round) {
    const SubjectId of = subject(random() % 64);
    switch (random() % 5) {
      case 0:
        values[of] = model[of] = round;
        break;
      case 1:
        EXPECT_EQ(values.entry(of).first, of);
        model.try_emplace(of);
        break;
      case 2:
        if (random() % 100 == 0) {
          values.clear();
          model.clear();
        }
        break;
      default:
        break;
    }
    const int* const found = values.find(of);
    ASSERT_EQ(found != nullptr, model.contains(of));
    ASSERT_EQ(found, std::as_const(values).find(of));
    ASSERT_EQ(found != nullptr ? *found : 0, model.contains(of) ? model[of] : 0);
    ASSERT_EQ(values.size(), model.size());
  }
  EXPECT_TRUE(std::ranges::equal(values, model));
}

TEST(SubjectMap, ASubjectWithoutAValueIsFoundOnceItHasOne) {
  SubjectMap<int> values;
  EXPECT_EQ(values.find(subject(1)), nullptr);
  values[subject(1)] = 7;
  EXPECT_EQ(*values.find(subject(1)), 7);
}

TEST(SubjectMap, ACopyHasItsOwnValues) {
  SubjectMap<int> values;
  values[subject(1)] = 7;
  SubjectMap<int> copy = values;
  copy[subject(1)] = 8;
  EXPECT_EQ(*values.find(subject(1)), 7);
  values = copy;
  values[subject(1)] = 9;
  EXPECT_EQ(*copy.find(subject(1)), 8);
}

TEST(SubjectMap, WhatWasMovedFromKnowsNothingOfItsValues) {
  SubjectMap<int> values;
  values[subject(1)] = 7;
  SubjectMap<int> other = std::move(values);
  EXPECT_EQ(values.find(subject(1)), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(*other.find(subject(1)), 7);
  values = std::move(other);
  EXPECT_EQ(other.find(subject(1)), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(*values.find(subject(1)), 7);
}

TEST(SubjectMap, ALoadedOneHasOnlyWhatWasSaved) {
  SubjectMap<int> saved;
  saved[subject(2)] = 5;
  StateIo out = StateIo::saving();
  out(saved);
  const std::string bytes = out.take();
  SubjectMap<int> loaded;
  loaded[subject(1)] = 7;
  StateIo in = StateIo::loading(bytes);
  in(loaded);
  EXPECT_TRUE(in.complete());
  EXPECT_EQ(loaded.find(subject(1)), nullptr);
  EXPECT_EQ(*loaded.find(subject(2)), 5);
}

}  // namespace trainwatch::testing::subject_map_test
