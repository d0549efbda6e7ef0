// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/slurm_log.h"

#include <gtest/gtest.h>

namespace trainwatch::slurm_log_test {

TEST(SlurmLog, TheNumberOfItsJob) {
  EXPECT_EQ(slurm_number("/logs/slurm-9001.out"), "9001");
  EXPECT_EQ(slurm_number("slurm-9001.err"), "9001");
  EXPECT_EQ(slurm_number("1795236015981368_rank_3_gpu-1234_stdout-9001.out"), "9001");
  EXPECT_EQ(slurm_number("1795236015981368_rank_3_gpu-1234_stdout.out"), "");
  EXPECT_EQ(slurm_number("/logs/slurm-7.out"), "7");
  EXPECT_EQ(slurm_number("/logs/bert-base-9001.out"), "9001");
  EXPECT_EQ(slurm_number("/logs/bert_9001.err"), "9001");
  EXPECT_EQ(slurm_number("/logs/12345678.out"), "12345678");
  EXPECT_EQ(slurm_number("/logs/bert.9001.log"), "9001");
}

TEST(SlurmLog, ATaskOfAnArrayIsAJob) {
  EXPECT_EQ(slurm_number("/logs/slurm-9001_3.out"), "9001_3");
  EXPECT_EQ(slurm_number("/logs/bert-9001_12.err"), "9001_12");
  EXPECT_EQ(slurm_number("/logs/9001_0.out"), "9001_0");
}

TEST(SlurmLog, WhatElseNumbersMean) {
  for (const char* const path :
       {"/logs/train.out", "/logs/node-101.out", "/logs/rank_128.err", "/logs/0.out",
        "/logs/train-2.out", "/logs/train-20261129.out", "/logs/train-1790000000.out",
        "/logs/train-007.out", "/logs/gpt2-345.log", "/logs/bert9001.out", "/9001/train.out",
        "/logs/slurm-.out", "/logs/slurm-9001.json", "/logs/slurm-123456789.out", ".out", ""}) {
    EXPECT_EQ(slurm_number(path), "") << path;
  }
}

TEST(SlurmLog, TheOrderOfNumbers) {
  EXPECT_TRUE(is_earlier_slurm_number("999", "1000"));
  EXPECT_TRUE(is_earlier_slurm_number("9001", "9002"));
  EXPECT_TRUE(is_earlier_slurm_number("9001_3", "10000_1"));
  EXPECT_FALSE(is_earlier_slurm_number("9001", "9001"));
}

}  // namespace trainwatch::slurm_log_test
