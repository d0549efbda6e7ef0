// SPDX-License-Identifier: Apache-2.0
// Names that loggers really give to scalars, and what they mean.
#include "pipeline/decode/scalar_tags.h"

#include <gtest/gtest.h>

#include <string_view>

namespace trainwatch::testing::scalar_tags_test {

ScalarKind kind_of(std::string_view tag) {
  return meaning_of_tag(tag, "/w/x").kind;
}

TEST(ScalarTags, LossesOfTheTraining) {
  for (const std::string_view tag : {"loss",
                                     "Loss/train",
                                     "train_loss_epoch",
                                     "lm_loss",
                                     "lm loss",
                                     "Train/Samples/train_loss",
                                     "train/box_loss",
                                     "actor/pg_loss",
                                     "train/CrossEntropyLoss",
                                     "D_loss",
                                     "loss_G",
                                     "training_loss",
                                     "reduced_train_loss",
                                     "loss_metrics/global_avg_loss",
                                     "epoch_loss",
                                     "train/value_loss",
                                     "loss1",
                                     "Training Loss",
                                     "policy_loss/mean",
                                     "nll",
                                     "cross entropy"}) {
    EXPECT_EQ(kind_of(tag), ScalarKind::loss) << tag;
  }
}

TEST(ScalarTags, LossesOfAnEvaluation) {
  for (const std::string_view tag : {"Loss/val", "val_loss", "eval/loss", "test_loss", "Valid Loss",
                                     "validation/loss", "valid_nll_loss", "loss/test"}) {
    EXPECT_EQ(kind_of(tag), ScalarKind::validation_loss) << tag;
  }
}

TEST(ScalarTags, WhatIsSaidOfALossIsNone) {
  for (const std::string_view tag : {"loss_weight",
                                     "best_val_loss",
                                     "min_loss",
                                     "loss_std",
                                     "loss_ratio",
                                     "stop_loss_patience",
                                     "loss_type",
                                     "loss_name",
                                     "grad_norm_type",
                                     "val_acc",
                                     "perplexity",
                                     "consumed_samples",
                                     "eval/lr",
                                     "max_grad_norm",
                                     "layer1/grad_norm",
                                     "time/iterations",
                                     "time/total_timesteps",
                                     "timing_per_token_ms/gen",
                                     "epoch_time",
                                     "time_metrics/data_loading(%)"}) {
    EXPECT_EQ(kind_of(tag), ScalarKind::other) << tag;
  }
}

TEST(ScalarTags, RatesTimesAndOthers) {
  struct Row {
    std::string_view tag;
    ScalarKind kind;
    double scale = 1;
  };
  using enum ScalarKind;
  for (const Row& row : {Row{"loss_scale", loss_scale},
                         {"curriculum seqlen", step_size},
                         {"train/seq_len", step_size},
                         {"context_length", step_size},
                         {"image_size", step_size},
                         {"resolution", step_size},
                         {"batch_size", step_size},
                         {"grad_norm", grad_norm},
                         {"gnorm", grad_norm},
                         {"gradient norm", grad_norm},
                         {"lr-AdamW/pg1", learning_rate},
                         {"x/lr0", learning_rate},
                         {"iteration-time", step_seconds},
                         {"elapsed time per iteration (ms)", step_seconds, 1e-3},
                         {"ms/batch", step_seconds, 1e-3},
                         {"s/it", step_seconds},
                         {"it/s", steps_per_second},
                         {"global_step/sec", steps_per_second},
                         {"timing_s/step", step_seconds},
                         {"avg_batch_cost", step_seconds},
                         {"avg_reader_cost", data_seconds},
                         {"data_time", data_seconds},
                         {"tok/s", tokens_per_second},
                         {"throughput(tps)", tokens_per_second},
                         {"train/tokens_per_gpu_per_sec", tokens_per_second},
                         {"samples/sec", samples_per_second},
                         {"images_per_second", samples_per_second},
                         {"TFLOP/s/device", tflops_per_gpu},
                         {"mfu(%)", mfu_ratio, 0.01},
                         {"gpu_mem_GB", memory_bytes, 1e9},
                         {"time/time_elapsed", elapsed_seconds},
                         {"_runtime", elapsed_seconds},
                         {"total_steps", total_steps},
                         {"train/epoch", epoch}}) {
    EXPECT_EQ(kind_of(row.tag), row.kind) << row.tag;
    EXPECT_DOUBLE_EQ(meaning_of_tag(row.tag, "/w/x").scale, row.scale) << row.tag;
  }
}

TEST(ScalarTags, WhatCountsSteps) {
  EXPECT_EQ(counter_of_name("global_step"), CounterKind::global_steps);
  EXPECT_EQ(counter_of_name("num_updates"), CounterKind::global_steps);
  EXPECT_EQ(counter_of_name("total/steps"), CounterKind::global_steps);
  EXPECT_EQ(counter_of_name("Iteration"), CounterKind::steps);
  EXPECT_EQ(counter_of_name("completed step"), CounterKind::steps);
  EXPECT_EQ(counter_of_name("episode"), CounterKind::steps);
  EXPECT_EQ(counter_of_name("batch"), CounterKind::batches);
  EXPECT_EQ(counter_of_name("Train Epoch"), CounterKind::epochs);
  for (const std::string_view name : {"max_steps", "total_steps", "steps_per_epoch", "step_time",
                                      "loss", "warmup_steps", "eval_steps", "batch_size", ""}) {
    EXPECT_EQ(counter_of_name(name), CounterKind::none) << name;
  }
}

}  // namespace trainwatch::testing::scalar_tags_test
