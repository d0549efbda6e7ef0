// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/candidate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/tail/lane.h"

namespace trainwatch::test::candidate_test {

using ::testing::ElementsAre;

TEST(Candidate, NamesAreSortedByHowMuchTheySay) {
  for (const char* name : {"train.log", "training_0.log", "run.log", "kern.log", "train.log.1.gz",
                           "finetune-20261121.log", "train.log-20261121"}) {
    EXPECT_EQ(claim_of(name), NameClaim::training) << name;
  }
  for (const char* name : {"0.log", "rank_0.log", "20261101_101010.log", "4f0c-json.log", "log.txt",
                           "syslog", "stdout", "messages.1"}) {
    EXPECT_EQ(claim_of(name), NameClaim::log) << name;
  }
  for (const char* name : {"README.txt", "train.txt", "part-00000.txt.gz"}) {
    EXPECT_EQ(claim_of(name), NameClaim::text) << name;
  }
  for (const char* name : {"README", "part-00000", "0"}) {
    EXPECT_EQ(claim_of(name), NameClaim::bare) << name;
  }
  for (const char* name :
       {"slurm-1.out", "a.json", "metrics.csv", "stdout.log", "nemo_log_0.txt", "train.py",
        "model.pt", "notes.md", ".train.log.swp", ".log", "trainwatch.log"}) {
    EXPECT_EQ(claim_of(name), NameClaim::none) << name;
  }
}

TEST(Candidate, PiecesOfARotatedLogShareABase) {
  EXPECT_EQ(place_of("/r/train.log.2.gz").order.base, "/r/train.log");
  EXPECT_EQ(place_of("/r/train.log.2.gz").order.age, -2);
  EXPECT_EQ(place_of("/r/train.log.1").lane, place_of("/r/train.log").lane);
  EXPECT_EQ(place_of("/r/train.py.1").order.base, "/r/train.py.1");
}

TEST(Candidate, TheSurestNamesAreTakenWhereThereAreTooMany) {
  SkippedPaths skipped;
  CandidateList list(3);
  for (int i = 0; i < 1000; ++i) {
    list.add({NameClaim::text, 1, "/r/data/" + std::to_string(i) + ".txt"}, skipped);
  }
  list.add({NameClaim::bare, 0, "/r/README"}, skipped);
  list.add({NameClaim::training, 4, "/r/z/z/z/z/train.log"}, skipped);
  list.add({NameClaim::text, 0, "/r/z.txt"}, skipped);
  std::vector<std::string> taken;
  for (const Candidate& each : list.take(skipped)) taken.push_back(each.path);
  EXPECT_THAT(taken, ElementsAre("/r/z/z/z/z/train.log", "/r/z.txt", "/r/data/0.txt"));
  EXPECT_EQ(skipped.count(SkipReason::not_looked_at), 1000U);
  EXPECT_EQ(skipped.first().size(), SkippedPaths::kKeptOfMany);
}

}  // namespace trainwatch::test::candidate_test
