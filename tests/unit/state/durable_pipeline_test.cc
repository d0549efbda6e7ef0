// SPDX-License-Identifier: Apache-2.0
// Stored state that this version cannot use is refused with a reason, and never interpreted.
#include "pipeline/state/durable_pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fed_file.h"
#include "support/memory_store.h"

namespace trainwatch::durable_pipeline_test {

using testing::HasSubstr;

constexpr std::string_view kLine =
    R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":4.5,"NodeId":"n","Timestamp":1591160699.5})"
    "\n";

class DurablePipelineTest : public testing::Test {
 protected:
  // The version row of the store says `version`, whatever the other rows are.
  void set_version(std::uint32_t version) {
    StateIo io = StateIo::saving();
    io(version);
    put({"version", io.take()});
  }
  void put(StateRow row) {
    Commit commit;
    commit.changed.push_back(std::move(row));
    ASSERT_TRUE(store_.commit(commit));
  }
  // One file was read up to the end of a line.
  void read_one_file() {
    DurablePipeline pipeline({}, {}, store_);
    ASSERT_TRUE(pipeline.start());
    KnownFile file;
    file.file = FileId{7};
    file.path = "/w/system.json";
    file.source = "w";
    pipeline.sink().opened(file, "lane", {});
    test::FedFile(pipeline.sink(), file.file).append(kLine);
    ASSERT_TRUE(pipeline.commit(Time{}));
  }

  MemoryStore store_{"epoch-1"};
};

TEST_F(DurablePipelineTest, StateOfThisVersionIsTakenUp) {
  read_one_file();
  DurablePipeline pipeline({}, {}, store_);
  ASSERT_TRUE(pipeline.start());
  EXPECT_EQ(pipeline.dropped(), "");
  ASSERT_EQ(pipeline.checkpoint().files.size(), 1U);
  EXPECT_EQ(pipeline.checkpoint().files[0].read.offset(), kLine.size());
  EXPECT_EQ(pipeline.ingest().files().at(FileId{7}).format, "system_metrics");
}

TEST_F(DurablePipelineTest, StateOfAnotherVersionIsRefusedWithALineThatNamesBoth) {
  read_one_file();
  for (const std::uint32_t version : {0U, 5U, 1000U}) {
    set_version(version);
    DurablePipeline pipeline({}, {}, store_);
    ASSERT_TRUE(pipeline.start());
    EXPECT_THAT(pipeline.dropped(), HasSubstr("version " + std::to_string(version) + ","));
    EXPECT_THAT(pipeline.dropped(), testing::ContainsRegex("needs version [0-9]+$"));
    EXPECT_TRUE(pipeline.checkpoint().files.empty()) << "its files are read again";
    EXPECT_TRUE(pipeline.ingest().files().empty());
  }
}

TEST_F(DurablePipelineTest, RowsOfAnotherVersionAreReplaced) {
  read_one_file();
  set_version(5);
  put({"former", "a row that only an older version knew"});
  DurablePipeline pipeline({}, {}, store_);
  ASSERT_TRUE(pipeline.start());
  ASSERT_TRUE(pipeline.commit(Time{}));
  const auto rows = store_.load();
  ASSERT_TRUE(rows);
  for (const StateRow& row : *rows) {
    EXPECT_NE(row.key, "former");
    EXPECT_FALSE(row.key.starts_with("file/")) << row.key;
  }
  DurablePipeline next({}, {}, store_);
  ASSERT_TRUE(next.start());
  EXPECT_EQ(next.dropped(), "");
}

TEST_F(DurablePipelineTest, DamagedStateIsRefused) {
  read_one_file();
  put({"file/7", "no file at all"});
  DurablePipeline pipeline({}, {}, store_);
  ASSERT_TRUE(pipeline.start());
  EXPECT_EQ(pipeline.dropped(), "the stored state is damaged");
  EXPECT_TRUE(pipeline.checkpoint().files.empty());
}

}  // namespace trainwatch::durable_pipeline_test
