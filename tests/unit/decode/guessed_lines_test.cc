// SPDX-License-Identifier: Apache-2.0
// What is read of lines, objects and rows that no preset knows.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "declared_reading.h"

namespace trainwatch::testing::guessed_lines_test {

Lines printed(std::string_view content) {
  return scalars_of("/w/train.log", content);
}

TEST(GuessedText, CountsStepsOverEpochsThatAreCountedFromOne) {
  EXPECT_EQ(printed("Epoch [1/10], Step [100/600], Loss: 2.5\n"
                    "Epoch [1/10], Step [600/600], Loss: 2.25\n"
                    "Epoch [2/10], Step [100/600], Loss: 2.0\n"),
            (Lines{"loss=2.5 100/1", "loss=2.25 600/1", "loss=2 700/1"}));
}

TEST(GuessedText, ACounterThatGoesOnOverEpochsIsTheStep) {
  EXPECT_EQ(printed("epoch 0 step 100 loss 2.5\nepoch 0 step 200 loss 2.25\n"
                    "epoch 1 step 300 loss 2.0\n"),
            (Lines{"loss=2.5 100/1", "loss=2.25 200/1", "loss=2 300/1"}));
}

TEST(GuessedText, EpochsAlone) {
  EXPECT_EQ(printed("Epoch 1/3: train loss 0.5, val loss 0.75, acc 81.5%\n"
                    "Epoch 2/3: train loss 0.25, val loss nan, acc 82.5%\n"),
            (Lines{"loss=0.5 1/1", "validation_loss=0.75 1/1", "other=81.5 1/1", "loss=0.25 2/1",
                   "validation_loss=nan 2/1", "other=82.5 2/1"}));
}

TEST(GuessedText, TheEpochOfALineBefore) {
  EXPECT_EQ(printed("Epoch 0/24\n----------\ntrain Loss: 0.5 Acc: 0.7\nval Loss: 0.6 Acc: 0.6\n\n"
                    "Epoch 1/24\n----------\ntrain Loss: 0.25 Acc: 0.8\nval Loss: 0.5 Acc: 0.7\n"),
            (Lines{"loss=0.5 0/1", "other=0.7 0/1", "loss=0.25 1/1", "other=0.8 1/1",
                   "validation_loss=0.6 0/1", "validation_loss=0.5 1/1"}));
}

TEST(GuessedText, BarsWithALoss) {
  EXPECT_EQ(printed("Epoch 0:   2%|\xE2\x96\x88  | 4/200 [00:00<00:10,  8.00it/s, loss=2.5]\r"
                    "Epoch 0:   3%|\xE2\x96\x88  | 6/200 [00:00<00:10,  8.00it/s, loss=2.25]\r"
                    "Epoch 1:   1%|\xE2\x96\x88  | 2/200 [00:00<00:10,  8.00it/s, loss=nan]\n"),
            (Lines{"steps_per_second=8 4/2", "loss=2.5 4/1", "steps_per_second=8 6/2",
                   "loss=2.25 6/1", "steps_per_second=8 202/196", "loss=nan 202/1"}));
}

TEST(GuessedText, LinesOfAnEvaluationHaveItsLossOnly) {
  const std::string test =
      "Test: [10/79] Time 0.2 Loss 2.5 Acc@1 10.0\n"
      "Test: [20/79] Time 0.2 Loss 2.0 Acc@1 10.0\n"
      "Test: [30/79] Time 0.2 Loss 1.5 Acc@1 10.0\n";
  EXPECT_EQ(printed(test), (Lines{"validation_loss=2.5 -1/1", "validation_loss=2 -1/1",
                                  "validation_loss=1.5 -1/1"}));
  EXPECT_EQ(printed("Step 100 Loss 3.5\nStep 200 Loss 3.25\n" + test),
            (Lines{"loss=3.5 100/1", "loss=3.25 200/1", "validation_loss=2.5 200/1",
                   "validation_loss=2 200/1", "validation_loss=1.5 200/1"}));
}

TEST(GuessedText, TheLengthOfAnEpochThatNoLineSays) {
  EXPECT_EQ(printed("epoch 1 iter 100 loss 3.5\nepoch 1 iter 200 loss 3.25\n"
                    "epoch 2 iter 50 loss 3.0\nepoch 2 iter 150 loss 2.75\n"),
            (Lines{"loss=3.5 100/1", "loss=3.25 200/1", "loss=3 300/1", "loss=2.75 400/1"}));
}

TEST(GuessedText, LossesOfWhichNothingSaysWhenAreCounted) {
  EXPECT_EQ(
      printed("Training Loss: 3.5\nModel evaluation.\nTraining Loss: 3.25\n"
              "Training Loss: 3.0\nTraining Loss: 2.75\nTraining Loss: 2.5\n"),
      (Lines{"loss=3.5 1/1", "loss=3.25 2/1", "loss=3 3/1", "loss=2.75 4/1", "loss=2.5 5/1"}));
  EXPECT_EQ(printed("loss weight: 0.5\nThe loss: 0.25 is an example\n"), Lines{});
}

TEST(GuessedText, TheShorterBarOfAnEpochIsOfItsEvaluation) {
  EXPECT_EQ(printed("Epoch: 0\n [== 391/391 =>] Step: 87ms | Tot: 45s | Loss: 2.5 | Acc: 20%\n"
                    " [== 100/100 =>] Step: 41ms | Tot: 4s | Loss: 2.75 | Acc: 19%\n"
                    "Epoch: 1\n [== 391/391 =>] Step: 85ms | Tot: 45s | Loss: 2.25 | Acc: 30%\n"
                    " [== 100/100 =>] Step: 43ms | Tot: 4s | Loss: 2.5 | Acc: 29%\n"),
            (Lines{"step_seconds=0.087 391/2", "other=45 391/1", "loss=2.5 391/1", "other=20 391/1",
                   "step_seconds=0.085 782/391", "other=45 782/1", "loss=2.25 782/1",
                   "other=30 782/1", "validation_loss=2.75 782/1", "validation_loss=2.5 782/1"}));
}

TEST(GuessedText, TheStepOfALineBefore) {
  EXPECT_EQ(printed("Iteration 20 | games played\nTraining: loss=1.5\n"
                    "Iteration 21 | games played\nTraining: loss=1.25\n"),
            (Lines{"loss=1.5 20/1", "loss=1.25 21/1"}));
}

TEST(GuessedText, AHeadlineOfAStepLeavesTheEpochAsItWas) {
  EXPECT_EQ(printed("Epoch 2/30\nIteration 7 begins\n"
                    "782/782 [=====] - 12s 15ms/step - loss: 5.25\n"),
            (Lines{"loss=5.25 1564/1", "step_seconds=0.015 1564/2"}));
}

TEST(GuessedText, LossesNamedByWhatIsDone) {
  EXPECT_EQ(printed("  step   250 | train 2.25 | val 2.5 | 28s elapsed\n"
                    "  step   500 | train 1.75 | val 2.0 | 53s elapsed\n"),
            (Lines{"loss=2.25 250/1", "validation_loss=2.5 250/1", "elapsed_seconds=28 250/1",
                   "loss=1.75 500/1", "validation_loss=2 500/1", "elapsed_seconds=53 500/1"}));
}

TEST(GuessedText, TextThatOnlyLooksLikeItIsNone) {
  EXPECT_TRUE(printed("step 1: downloading 12/100 MB\nstep 2: building\nloss of 3 packets\n"
                      "epoch 1970-01-01\niteration over 5 files took 3 s\n")
                  .empty());
  EXPECT_TRUE(printed("step 1 loss 2.5\n").empty()) << "one line is no series";
  EXPECT_TRUE(printed("step 5 loss 2.5\nstep 5 loss 2.4\nstep 5 loss 2.3\n").empty());
}

TEST(GuessedText, NothingIsGuessedOnceAPresetHasReadThreeLosses) {
  const std::string known = "[rank0]: step: 1  loss:  7.5  tps: 12\n";
  const std::string unknown = "epoch 1 iter 10 loss 1.5\nepoch 1 iter 20 loss 1.25\n";
  EXPECT_EQ(printed(known + known + known + unknown).size(), 6U);
  EXPECT_EQ(printed(known + unknown).size(), 4U);
}

TEST(GuessedJson, StepTimeAndMeaningsByName) {
  EXPECT_EQ(
      scalars_of("/w/history.jsonl",
                 R"({"lr":1e-3,"global_step":10,"metrics":{"loss":2.5,"acc":0.5},"ts":1790000000.5}
{"event":"saved","path":"x"}
{"lr":1e-3,"global_step":20,"metrics":{"loss":"NaN","acc":0.75},"ts":1790000001.5}
)"),
      (Lines{"learning_rate=0.001 10/1", "loss=2.5 10/1", "other=0.5 10/1",
             "learning_rate=0.001 20/1", "loss=nan 20/1", "other=0.75 20/1"}));
  EXPECT_EQ(declared_of("/w/history.jsonl", "{\"step\":1,\"loss\":2}\n"),
            "json_lines guessed_json");
  EXPECT_EQ(declared_of("/w/data.jsonl", "{\"id\":1,\"text\":\"a loss\",\"step\":\"2\"}\n"),
            "unknown ");
}

TEST(GuessedCsv, SeparatorsAndIndexesWithoutAName) {
  EXPECT_EQ(scalars_of("/w/history.csv", ",loss,val_loss\n0,2.5,2.75\n1,2.25,nan\n"),
            (Lines{"loss=2.5 0/1", "validation_loss=2.75 0/1", "loss=2.25 1/1",
                   "validation_loss=nan 1/1"}));
  EXPECT_EQ(scalars_of("/w/log.csv", "iter;train loss;seconds\n10;2.5;1\n"),
            (Lines{"loss=2.5 10/1", "other=1 10/1"}));
  EXPECT_EQ(declared_of("/w/cities.csv", "name,population,area\nx,1,2\n"), "unknown ");
  EXPECT_EQ(declared_of("/w/training.log", "epoch,loss\n0,1.5\n"), "csv keras_csv");
}

TEST(DockerLog, IsWhatWasPrinted) {
  EXPECT_EQ(
      scalars_of(
          "/w/4f0c-json.log",
          R"({"log":"[rank3]: step: 7  loss:  7.5  ","stream":"stdout","time":"2026-09-21T14:13:22.1Z"}
{"log":"tps: 12\n","stream":"stdout","time":"2026-09-21T14:13:22.1Z"}
{"log":"\u001b[31mbye\n","stream":"stderr","time":"2026-09-21T14:13:23.1Z"}
)"),
      (Lines{"loss=7.5 7/1 rank 3", "tokens_per_second=12 7/2 rank 3"}));
}

}  // namespace trainwatch::testing::guessed_lines_test
