// SPDX-License-Identifier: Apache-2.0
// Stored state that this version cannot use is refused with a reason, and never interpreted.
#include "pipeline/state/durable_pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "pipeline/engine/alert_json.h"
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

// The files of these alerts were deleted, so an upgraded trainwatch cannot read them again.
TEST_F(DurablePipelineTest, WhatNoFileSaysAnyMoreEndsAfterAnUpgrade) {
  read_one_file();
  Alert alert;
  alert.id = "0123456789abcdef0123456789abcdef";
  alert.rule = "step_spike";
  alert.severity = alert.reached = Severity::warning;
  alert.started_at = Time{std::chrono::seconds(1'800'000'000)};
  alert.updated_at = alert.started_at + std::chrono::milliseconds(2500);
  alert.subject = {"a \"job\"", "node", 3, "", kNoProcess};
  alert.attempt = 2;
  alert.ranks = "0-3";
  alert.verdict.step = 17;
  alert.verdict.value = 0.1;
  alert.verdict.threshold = std::nan("");
  alert.verdict.summary = "Step 17 was slow: \",\"next\":\".";
  alert.verdict.cause = {CauseName::input_wait, 0.625, "It waited.", {}};
  alert.verdict.evidence = R"({"next":{"a":1e-05},"b":[1,2.50]})";
  alert.verdict.next = "Look.";
  Alert self = alert;
  self.id[0] = 'f';
  self.rule = "_self/lagging";
  Commit commit;
  commit.alerts = {alert, self};
  ASSERT_TRUE(store_.commit(commit));
  {
    DurablePipeline same({}, {}, store_);
    ASSERT_TRUE(same.start());
    ASSERT_TRUE(same.end_orphans());
    EXPECT_TRUE(same.commit(Time{})->empty()) << "its rule may say more of it";
  }
  set_version(5);
  DurablePipeline upgraded({}, {}, store_);
  ASSERT_TRUE(upgraded.start());
  EXPECT_TRUE(upgraded.upgraded());
  ASSERT_TRUE(upgraded.end_orphans());
  const auto ended = upgraded.commit(Time{});
  ASSERT_TRUE(ended);
  ASSERT_EQ(ended->size(), 1U);
  alert.state = Alert::State::resolved;
  alert.ended_at = alert.updated_at;
  alert.ended_because = EndedBecause::run_gone;
  alert.seq = ended->front()->seq;
  EXPECT_EQ(ended->front()->json, published(alert, to_json(alert), "epoch-1").json);
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
