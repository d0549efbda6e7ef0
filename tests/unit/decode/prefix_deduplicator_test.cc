// SPDX-License-Identifier: Apache-2.0
// A compressed file that repeats a plain one is read on where that one was left.
#include "pipeline/decode/prefix_deduplicator.h"

#include <gtest/gtest.h>

#include <string>

#include "support/saved_state.h"

namespace trainwatch::prefix_deduplicator_test {

Fingerprint mark_of(std::string_view bytes) {
  Fingerprint mark;
  mark.extend(bytes);
  return mark;
}

std::string numbers(int first, int last) {
  std::string text;
  for (int i = first; i < last; ++i) text += std::to_string(i) + "\n";
  return text;
}

struct Answer {
  std::optional<FileId> repeated;
  std::string rest;
};

// Feeds `contents` in pieces of `size`, saved and restored in between.
Answer ask(const std::vector<PrefixDeduplicator::Candidate>& candidates, std::string_view contents,
           std::size_t size) {
  PrefixDeduplicator beginning(candidates);
  std::string rest;
  for (std::size_t at = 0; at < contents.size(); at += size) {
    const std::string state = test::saved_state(beginning);
    PrefixDeduplicator restored;
    EXPECT_TRUE(test::load_state(state, restored));
    beginning = std::move(restored);
    const std::string_view piece = contents.substr(at, size);
    if (beginning.decided()) {
      rest += piece;
      continue;
    }
    beginning.feed(piece);
    if (beginning.decided()) rest += beginning.take_rest();
  }
  if (!beginning.decided()) {
    beginning.finish();
    rest += beginning.take_rest();
  }
  return {beginning.repeated(), rest};
}

TEST(PrefixDeduplicator, WhatWasReadIsSkippedAtAnyCut) {
  const std::string all = numbers(0, 2000);
  for (const std::size_t read : {1U, 500U, 1023U, 1024U, 1056U, 5000U, 8890U}) {
    for (const std::size_t size : {1U, 7U, 1000U, 100000U}) {
      const Answer answer = ask(
          {{FileId{7}, mark_of(all.substr(0, read))}, {FileId{8}, mark_of("other")}}, all, size);
      EXPECT_EQ(answer.repeated, FileId{7}) << read << " " << size;
      EXPECT_EQ(answer.rest, all.substr(read)) << read << " " << size;
    }
  }
}

TEST(PrefixDeduplicator, OtherContentsPassWhole) {
  const std::string all = numbers(0, 2000);
  for (const std::string& other : {numbers(1, 3000), all.substr(0, 5000) + "x", std::string("9")}) {
    for (const std::size_t size : {1U, 100U, 100000U}) {
      const Answer answer = ask({{FileId{7}, mark_of(other)}}, all, size);
      EXPECT_EQ(answer.repeated, std::nullopt);
      EXPECT_EQ(answer.rest, all);
    }
  }
}

TEST(PrefixDeduplicator, AShorterCopyIsNothingNew) {
  const std::string all = numbers(0, 2000);
  const Answer answer = ask({{FileId{7}, mark_of(all)}}, all.substr(0, 3000), 100);
  EXPECT_EQ(answer.repeated, std::nullopt);
  EXPECT_EQ(answer.rest, "");
  EXPECT_EQ(ask({{FileId{7}, mark_of(all)}}, "x" + all.substr(0, 3000), 100).rest.size(), 3001U);
}

}  // namespace trainwatch::prefix_deduplicator_test
