// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/checkpoint_files.h"

#include "tests/unit/tail/tailer_fixture.h"

namespace trainwatch::checkpoint_files_test {

using test::TailerTest;

std::vector<std::string> names(const test::RecordingSink& sink) {
  std::vector<std::string> found;
  for (const CheckpointFile& file : sink.checkpoints) found.push_back(file.path);
  return found;
}

TEST(CheckpointName, ThoseOfTheFrameworks) {
  for (const char* const name :
       {"last.pt", "epoch=3-step=100.ckpt", "model.safetensors", "model-00001-of-00002.safetensors",
        "__0_0.distcp", "m.keras", "ckpt-7.data-00000-of-00001", "pytorch_model.bin", "weights.h5",
        "run.pth.tar", "last.pt.tmp", "optimizer.bin"}) {
    EXPECT_TRUE(is_checkpoint_name(name)) << name;
  }
  for (const char* const name : {"trace.json", "train.bin", "images.tar", "data.h5", "pt", "",
                                 ".tmp", "x.pt.gz", "notes.md", "x.data-1", "loss.csv"}) {
    EXPECT_FALSE(is_checkpoint_name(name)) << name;
  }
}

TEST_F(TailerTest, ReportsWhatIsWrittenOnce) {
  fs.create("/r/checkpoints/a.pt", "1");
  fs.create("/r/x.json", "{}");
  EXPECT_EQ(pass(), (Calls{"opened x.json", "data x.json"}));
  EXPECT_EQ(names(sink), Calls{"/r/checkpoints/a.pt"});
  pass();
  EXPECT_EQ(sink.checkpoints.size(), 1U);
  const std::int64_t created = sink.checkpoints[0].created_ns;
  fs.append("/r/checkpoints/a.pt", "2");
  pass();
  ASSERT_EQ(sink.checkpoints.size(), 2U);
  EXPECT_EQ(sink.checkpoints[1].created_ns, created);
  EXPECT_GT(sink.checkpoints[1].written_ns, sink.checkpoints[0].written_ns);
}

TEST_F(TailerTest, WhatIsBeingWrittenIsLookedAtBeforeEachRead) {
  fs.create("/r/x.json", "{}");
  pass();
  fs.create("/r/last.pt", "1");
  pass();
  fs.append("/r/last.pt", "2");
  fs.append("/r/x.json", "\n");
  EXPECT_TRUE(tailer->refresh());
  EXPECT_EQ(sink.checkpoints.size(), 1U);
  drain();
  EXPECT_EQ(sink.checkpoints.size(), 2U);
}

TEST_F(TailerTest, AnOldCheckpointIsNotLookedAtBetweenScans) {
  fs.create("/r/x.json", "{}");
  fs.create("/r/last.pt", "1");
  pass();
  pass();
  fs.append("/r/last.pt", "2");
  EXPECT_TRUE(tailer->refresh());
  drain();
  EXPECT_EQ(sink.checkpoints.size(), 1U);
  pass();
  EXPECT_EQ(sink.checkpoints.size(), 2U);
}

}  // namespace trainwatch::checkpoint_files_test
