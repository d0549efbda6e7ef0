// SPDX-License-Identifier: Apache-2.0
// What is silent is forgotten, in memory and in the store, so that no table fills up with the past.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "daemon/config/config.h"
#include "pipeline/state/durable_pipeline.h"
#include "rules/catalog.h"
#include "support/fed_file.h"
#include "support/memory_store.h"

namespace trainwatch::jobs_in_turn_test {

constexpr std::size_t kMostSubjects = 64;

std::string line_of(int job) {
  return R"({"Type":"cpu","Name":"cpu)" + std::to_string(job) +
         R"(","Dimension":"CPUUtilization","Value":4.5,"NodeId":"node-)" + std::to_string(job) +
         R"(","Timestamp":)" + std::to_string(1591160000 + 60 * job) + ".5}\n";
}

class JobsInTurn : public testing::Test {
 protected:
  JobsInTurn() : pipeline_(Config(rule_catalog()).enabled_rules(), options(), store_) {}

  static IngestOptions options() {
    IngestOptions options;
    options.names.subjects = kMostSubjects;
    options.roots = {{"/w", "w"}};
    return options;
  }
  void write(int job) {
    KnownFile file;
    file.file = static_cast<FileId>(job + 1);
    const std::string folder = "/w/job-" + std::to_string(job);
    file.path = folder + "/system.json";
    file.source = "w";
    pipeline_.sink().opened(file, folder, {});
    test::FedFile(pipeline_.sink(), file.file).append(line_of(job));
    pipeline_.sink().forgotten(file.file, true);
    pipeline_.ingest().end_of_input();
  }
  std::size_t rows() {
    EXPECT_TRUE(pipeline_.commit(Time{}));
    return store_.load()->size();
  }
  const Interner& interner() { return pipeline_.engine().interner(); }

  MemoryStore store_{"epoch-1"};
  DurablePipeline pipeline_;
};

TEST_F(JobsInTurn, HundredsOfJobsOneAfterAnotherNeverFillATable) {
  std::size_t most_rows = 0;
  std::size_t most_names = 0;
  for (int job = 0; job < 300; ++job) {
    write(job);
    EXPECT_EQ(pipeline_.next_round(), job >= static_cast<int>(LastSeen::kPatience)) << job;
    if (job < 20) most_rows = std::max(most_rows, rows());
    if (job < 20) most_names = std::max(most_names, interner().symbols.size());
  }
  EXPECT_EQ(interner().subjects.dropped(), 0U);
  EXPECT_LE(interner().symbols.size(), most_names);
  EXPECT_LE(rows(), most_rows);
  for (const auto& [id, file] : pipeline_.ingest().files()) EXPECT_EQ(file.rejects, 0U);
}

TEST_F(JobsInTurn, WithoutItTheTableIsFull) {
  for (int job = 0; job < 300; ++job) write(job);
  EXPECT_GT(interner().subjects.dropped(), 0U);
}

TEST_F(JobsInTurn, ARestartKnowsWhatIsSilent) {
  write(0);
  for (std::uint32_t i = 0; i < LastSeen::kPatience; ++i) pipeline_.next_round();
  rows();
  DurablePipeline next(Config(rule_catalog()).enabled_rules(), options(), store_);
  ASSERT_TRUE(next.start());
  EXPECT_EQ(next.dropped(), "");
  EXPECT_NE(next.engine().interner().subjects.size(), 1U);
  EXPECT_TRUE(next.next_round());
  EXPECT_EQ(next.engine().interner().subjects.size(), 1U);
}

}  // namespace trainwatch::jobs_in_turn_test
