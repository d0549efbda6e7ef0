// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/environment_names.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace trainwatch::environment_names_test {

EnvironmentNames names_in(const std::map<std::string, std::string, std::less<>>& variables) {
  return environment_names([&variables](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(EnvironmentNames, NothingSetIsNothingKnown) {
  const EnvironmentNames names = names_in({{"RANK", ""}, {"SLURM_JOB_NAME", ""}});
  EXPECT_EQ(names.job, "");
  EXPECT_EQ(names.node, "");
  EXPECT_EQ(names.rank, kNoRank);
}

TEST(EnvironmentNames, JobAndRun) {
  EXPECT_EQ(names_in({{"SLURM_JOB_NAME", "bert"}, {"SLURM_JOB_ID", "4711"}}).job, "bert/4711");
  EXPECT_EQ(names_in({{"TRAINING_JOB_NAME", "resnet-2026-11"}}).job, "resnet-2026-11");
  EXPECT_EQ(names_in({{"TORCHELASTIC_RUN_ID", "none"}}).job, "");
  EXPECT_EQ(names_in({{"TORCHELASTIC_RUN_ID", "r7"}}).job, "r7");
  EXPECT_EQ(names_in({{"TRAINWATCH_LABEL_JOB", "own"}, {"SLURM_JOB_NAME", "bert"}}).job, "own");
}

TEST(EnvironmentNames, Node) {
  EXPECT_EQ(names_in({{"SLURMD_NODENAME", "gpu01"}}).node, "gpu01");
  EXPECT_EQ(names_in({{"SM_CURRENT_HOST", "algo-1"}}).node, "algo-1");
  EXPECT_EQ(names_in({{"NODE_NAME", "worker-3"}, {"POD_NAME", "bert-0"}}).node, "bert-0");
  EXPECT_EQ(names_in({{"NODE_NAME", "worker-3"}}).node, "worker-3");
}

TEST(EnvironmentNames, TheRankOfANodeWithOne) {
  EXPECT_EQ(names_in({{"RANK", "3"}, {"LOCAL_WORLD_SIZE", "1"}}).rank, 3);
  EXPECT_EQ(names_in({{"JOB_COMPLETION_INDEX", "2"}, {"PET_NPROC_PER_NODE", "1"}}).rank, 2);
  EXPECT_EQ(names_in({{"OMPI_COMM_WORLD_RANK", "5"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}}).rank, 5);
  EXPECT_EQ(names_in({{"PMI_RANK", "6"}, {"MPI_LOCALNRANKS", "1"}}).rank, 6);
  EXPECT_EQ(names_in({{"SLURM_PROCID", "7"}, {"SLURM_NTASKS_PER_NODE", "1"}}).rank, 7);
  EXPECT_EQ(names_in({{"TRAINWATCH_LABEL_RANK", "9"}, {"LOCAL_WORLD_SIZE", "8"}}).rank, 9);
}

// A sidecar must not put the rank of its own process onto the files of all ranks of its node.
TEST(EnvironmentNames, NoRankWhereThereMayBeSeveral) {
  EXPECT_EQ(names_in({{"RANK", "3"}}).rank, kNoRank);
  EXPECT_EQ(names_in({{"RANK", "3"}, {"LOCAL_WORLD_SIZE", "8"}}).rank, kNoRank);
  EXPECT_EQ(names_in({{"RANK", "3"}, {"LOCAL_WORLD_SIZE", "auto"}}).rank, kNoRank);
  EXPECT_EQ(names_in({{"RANK", "-1"}, {"LOCAL_WORLD_SIZE", "1"}}).rank, kNoRank);
  EXPECT_EQ(names_in({{"JOB_COMPLETION_INDEX", "2"}}).rank, kNoRank);
  EXPECT_EQ(
      names_in({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS_PER_NODE", "1"}, {"LOCAL_WORLD_SIZE", "4"}})
          .rank,
      kNoRank);
  EXPECT_EQ(
      names_in({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS_PER_NODE", "1"}, {"SLURM_GPUS_ON_NODE", "8"}})
          .rank,
      kNoRank);
}

}  // namespace trainwatch::environment_names_test
