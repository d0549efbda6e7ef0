// SPDX-License-Identifier: Apache-2.0
// Random jobs with an injected fault: nobody but the culprits is ever named, and where the dumps
// show them, all of them are.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <iostream>
#include <ostream>
#include <random>
#include <set>
#include <string>

#include "pipeline/hang/hang_tracker.h"
#include "support/hanging_job.h"

namespace trainwatch::random_hang_test {
namespace {

using testing::HangingJob;
using Fault = HangingJob::Fault;
using Ranks = std::set<std::int32_t>;

HangingJob::Layout layout_of(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::initializer_list<std::int32_t> sizes) {
    return *(sizes.begin() + random() % sizes.size());
  };
  HangingJob::Layout layout;
  layout.tensor = pick({1, 2, 4});
  layout.data = pick({1, 2, 3});
  layout.pipeline = pick({1, 2, 4});
  if (layout.ranks() < 3) layout.data = 3;
  layout.sends_in_world = random() % 4 == 0;
  layout.batches_sends = random() % 3 == 0;
  layout.hashed_names = random() % 3 == 0;
  layout.ahead = pick({1, 2, 5, 20});
  layout.ring = static_cast<std::size_t>(pick({4, 12, 30, 2000}));
  layout.only_active = random() % 4 == 0;
  layout.status = random() % 5 != 0;
  return layout;
}

std::string text_of(const HangingJob::Layout& l) {
  return std::to_string(l.tensor) + "x" + std::to_string(l.data) + "x" +
         std::to_string(l.pipeline) + " ahead " + std::to_string(l.ahead) + " ring " +
         std::to_string(l.ring) + (l.sends_in_world ? " world" : "") +
         (l.batches_sends ? " batches" : "") + (l.hashed_names ? " hashed" : "") +
         (l.only_active ? " active" : "") + (l.status ? "" : " no status");
}

HangFinding find(HangingJob& job, const Ranks& without, Time written = HangingJob::kWritten) {
  HangTracker tracker;
  for (std::int32_t rank = 0; rank < job.ranks(); ++rank) {
    if (!without.contains(rank)) tracker.add(SubjectId{1}, job.dump(rank, written));
  }
  const auto found = tracker.take_all();
  return found.empty() ? HangFinding{} : found.front();
}

struct Score {
  int jobs = 0;
  int named = 0;   // all culprits, nobody else
  int partly = 0;  // some of them
  int nobody = 0;
  int wrong = 0;
};

std::ostream& operator<<(std::ostream& out, const Score& score) {
  return out << score.jobs << " jobs: " << score.named << " named, " << score.partly << " partly, "
             << score.nobody << " nobody, " << score.wrong << " wrong";
}

Score score(Fault fault, std::size_t culprits, int missing, int jobs = 600) {
  Score all;
  for (int i = 0; i < jobs; ++i) {
    const auto seed = static_cast<unsigned>(i) * 7919U + static_cast<unsigned>(culprits);
    const HangingJob::Layout layout = layout_of(seed);
    HangingJob job(layout, seed);
    if (static_cast<std::int32_t>(culprits) * 2 > job.ranks()) continue;
    const Ranks truth = job.run(fault, culprits);
    std::mt19937 random(~seed);  // that of the job would choose the culprits
    Ranks without;
    for (int m = 0; m < missing; ++m) {
      without.insert(static_cast<std::int32_t>(random() % static_cast<unsigned>(job.ranks())));
    }
    const HangFinding found = find(job, without);
    ++all.jobs;
    // Where no call stands alone, those of the whole group differ.
    Ranks allowed = truth;
    if (fault == Fault::mismatch && found.suspects.size() > 1)
      allowed.insert(job.group_at_fault().begin(), job.group_at_fault().end());
    const bool wrong = !std::ranges::includes(allowed, found.suspects);
    all.wrong += wrong;
    all.named += !truth.empty() && found.suspects == truth;
    all.nobody += found.suspects.empty();
    all.partly += !wrong && !found.suspects.empty() && found.suspects != truth;
    if (wrong) {
      std::cout << "seed " << seed << ": " << text_of(layout) << ", culprits "
                << ::testing::PrintToString(truth) << ", named "
                << ::testing::PrintToString(found.suspects) << " as kind "
                << static_cast<int>(found.kind) << " in " << found.collective << " #"
                << found.sequence << " of " << found.description << ", without "
                << ::testing::PrintToString(without) << "\n";
    }
  }
  std::cout << "fault " << static_cast<int>(fault) << " x" << culprits << " without " << missing
            << ": " << all << "\n";
  return all;
}

TEST(RandomHang, AbsentRanks) {
  const Score one = score(Fault::absent, 1, 0);
  EXPECT_EQ(one.wrong, 0);
  EXPECT_GT(one.named * 100, one.jobs * 95);
  EXPECT_EQ(score(Fault::absent, 2, 0).wrong, 0);
  for (const int missing : {1, 2, 4}) EXPECT_EQ(score(Fault::absent, 1, missing).wrong, 0);
}

TEST(RandomHang, StuckGpus) {
  const Score one = score(Fault::stuck, 1, 0);
  EXPECT_EQ(one.wrong, 0);
  EXPECT_GT(one.named * 100, one.jobs * 70);
  for (const int missing : {1, 2, 4}) EXPECT_EQ(score(Fault::stuck, 1, missing).wrong, 0);
}

TEST(RandomHang, Mismatches) {
  const Score one = score(Fault::mismatch, 1, 0);
  EXPECT_EQ(one.wrong, 0);
  EXPECT_GT((one.named + one.partly) * 100, one.jobs * 50);
  for (const int missing : {1, 2, 4}) EXPECT_EQ(score(Fault::mismatch, 1, missing).wrong, 0);
}

TEST(RandomHang, BrokenNetworksNameNobody) {
  for (const int missing : {0, 2}) EXPECT_EQ(score(Fault::network, 0, missing).wrong, 0);
}

TEST(RandomHang, HealthyJobsSayNothing) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    HangingJob job(layout_of(seed), seed);
    job.run(Fault::none);
    EXPECT_EQ(find(job, {}, HangingJob::kSoon).kind, HangFinding::Kind::none) << seed;
  }
}

}  // namespace
}  // namespace trainwatch::random_hang_test
