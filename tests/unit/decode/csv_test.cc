// SPDX-License-Identifier: Apache-2.0
// What each preset makes of rows as their real writers write them.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "declared_reading.h"
#include "decode_harness.h"
#include "pipeline/decode/declared/delivered_values.h"
#include "support/source_path.h"

namespace trainwatch::testing::csv_test {

std::string recorded(const std::string& name) {
  const auto path = source_path("tests/data/recorded-logs/" + name);
  std::ifstream file{path, std::ios::binary};
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(Csv, RecordedLightningRun) {
  const std::string content = recorded("lightning_csv/lightning_logs/version_0/metrics.csv");
  const Lines lines = scalars_of("/w/lightning_logs/version_0/metrics.csv", content);
  ASSERT_EQ(lines.size(), 24U);
  EXPECT_EQ(lines[0], "epoch=0 4/1");
  EXPECT_EQ(lines[1], "loss=1.56721 4/1");
  EXPECT_EQ(lines[5], "validation_loss=0.567838 9/1");
  EXPECT_EQ(declared_of("/w/any", content), "csv lightning_csv");
}

TEST(Csv, RecordedKerasRun) {
  const Lines lines = scalars_of("/w/training.csv", recorded("keras_csv/training.csv"));
  ASSERT_EQ(lines.size(), 12U);
  EXPECT_EQ(lines[0], "loss=5.40474 0/1");
  EXPECT_EQ(lines[1], "validation_loss=4.41522 0/1");
  EXPECT_EQ(lines[10], "loss=4.10013 5/1");
}

TEST(Csv, KerasValuesThatAreLists) {
  EXPECT_EQ(scalars_of("/w/log.csv",
                       "epoch,accuracy,loss,lr\r\n0,\"[1, 2]\",nan,0.001\r\n1,0.5,inf,1e-4\r\n"),
            (Lines{"loss=nan 0/1", "learning_rate=0.001 0/1", "other=0.5 1/1", "loss=inf 1/1",
                   "learning_rate=0.0001 1/1"}));
}

TEST(Csv, UltralyticsPaddedWithBlanks) {
  EXPECT_EQ(
      scalars_of(
          "/w/runs/detect/train/results.csv",
          "                  epoch,         train/box_loss,           val/cls_loss,        lr/pg0\n"
          "                      0,                 1.2345,                    2.5,        "
          "0.0033\n"),
      (Lines{"loss=1.2345 0/1", "validation_loss=2.5 0/1", "learning_rate=0.0033 0/1"}));
}

TEST(Csv, TimmSummary) {
  EXPECT_EQ(scalars_of("/w/output/train/x/summary.csv",
                       "epoch,train_loss,eval_loss,eval_top1,lr\n0,6.9,6.5,0.25,1e-6\n"),
            (Lines{"loss=6.9 0/1", "validation_loss=6.5 0/1", "other=0.25 0/1",
                   "learning_rate=1e-06 0/1"}));
}

TEST(Csv, DeepSpeedRepeatsItsHeaderAfterARestart) {
  EXPECT_EQ(scalars_of("/w/csv/job/Train_Samples_train_loss.csv",
                       "step,Train/Samples/train_loss\n32,2.5\n64,2.25\n"
                       "step,Train/Samples/train_loss\n64,2.5\n"),
            (Lines{"loss=2.5 32/1", "loss=2.25 64/1", "loss=2.5 64/1"}));
}

TEST(Csv, ARowWithoutItsCellsIsRejectedAndOneWithoutItsEndWaits) {
  const Outcome outcome = decode("/w/metrics.csv", "epoch,step,loss\n0,1,2\n0,2\n0,3,1\n0,4,0.");
  EXPECT_EQ(outcome.records, 2U);
  EXPECT_EQ(outcome.rejects, Lines{"syntax"});
}

TEST(Csv, TablesOfOthersAreNotOurs) {
  EXPECT_EQ(declared_of("/w/data.csv", "id,label\n1,cat\n"), "unknown ");
  EXPECT_EQ(declared_of("/w/data.csv", "1,2,3\n4,5,6\n"), "unknown ");
  EXPECT_EQ(declared_of("/w/data.csv", ""), "empty ");
}

// Lightning's rewrite: all rows again, with more columns, in another order.
TEST(Csv, OfAFileThatIsWrittenAnewOnlyWhatIsNewIsEmitted) {
  const std::string first = "epoch,step,train_loss\n0,4,1.5\n0,9,0.75\n";
  const std::string wider = "acc,epoch,step,train_loss\n,0,4,1.5\n,0,9,0.75\n0.5,0,9,\n,1,14,0.5\n";
  for (std::size_t cut = 0; cut <= wider.size(); ++cut) {
    DecodeRun run{"/w/metrics.csv"};
    run.feed(first);
    run.rewrite();
    run.feed(std::string_view{wider}.substr(0, cut));
    run.restart();
    run.feed(std::string_view{wider}.substr(cut));
    ASSERT_EQ(run.events().size(), 8U) << "cut at " << cut;
    EXPECT_NE(run.events()[4].find("acc=0.5"), std::string::npos);
    EXPECT_NE(run.events()[7].find("train_loss=0.500000 step=14"), std::string::npos);
  }
}

TEST(Csv, AnotherRunInTheSameFileIsReadFromItsBeginning) {
  DecodeRun run{"/w/metrics.csv"};
  run.feed("epoch,step,train_loss\n0,4,1.5\n0,9,0.75\n");
  run.rewrite();
  run.feed("epoch,step,train_loss\n0,4,1.25\n0,9,0.75\n");
  EXPECT_EQ(run.events().size(), 7U);  // the epoch of the first row was the same
}

TEST(DeliveredValues, TwoRewritesInARowRepeatNothing) {
  DeliveredValues values;
  for (int step = 0; step < 3; ++step) EXPECT_TRUE(values.is_new("a", step, "1"));
  DeliveredValues second;
  second.begin_anew(values.known());
  EXPECT_FALSE(second.is_new("a", 0, "1"));
  DeliveredValues third;
  third.begin_anew(second.known());
  for (int step = 0; step < 3; ++step) EXPECT_FALSE(third.is_new("a", step, "1"));
  EXPECT_TRUE(third.is_new("a", 3, "1"));
}

}  // namespace trainwatch::testing::csv_test
