// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/path_metadata.h"

#include <gtest/gtest.h>

namespace trainwatch::path_metadata_test {

struct TimelineCase {
  const char* path;
  const char* node;
  std::int32_t rank;
};

TEST(PathMetadata, KernelLogs) {
  for (const char* const path :
       {"/var/log/kern.log", "/x/dmesg", "/x/messages-20260921", "/x/syslog.1", "messages"}) {
    EXPECT_TRUE(is_kernel_log(path)) << path;
  }
  for (const char* const path :
       {"/dmesg/a", "/x/messages_of_a_chat.txt", "/x/kern", "/x/mysyslog"}) {
    EXPECT_FALSE(is_kernel_log(path)) << path;
  }
}

TEST(PathMetadata, TimelineNodeAndRank) {
  const TimelineCase cases[] = {
      {"/f/pevents/2026112104/1795236016087300_0-algo-1_pythontimeline.json", "algo-1", 0},
      {"/f/12-algo-3_pythontimeline.json.tmp", "algo-3", 12},
      {"/f/1594662624558411_905-b88ab1bb8259_model_timeline.json", "b88ab1bb8259", 905},
      {"/f/1795236016087300_19952-vm_pythontimeline.json", "vm", kNoRank},
      {"/f/3-my-host.local_horovod_timeline.json.tmp", "my-host.local", 3},
      {"/f/1589930988000000_4487_0000_pythontimeline.json", "4487", kNoRank},
      {"/f/1590461127873222_0001_model_timeline.json", "0001", kNoRank},
      {"/f/1589314018481947000_1234-testhost_model_timeline.json", "testhost", 1234},
      {"/f/1589314018481947_2-algo-1_smdataparallel_timeline.json", "algo-1", 2},
      {"/f/horovod_timeline_small.json", "", kNoRank},
      {"/f/anything.json", "", kNoRank},
  };
  for (const TimelineCase& expected : cases) {
    const NodeRank found = timeline_path_metadata(expected.path);
    EXPECT_EQ(found.node, expected.node) << expected.path;
    EXPECT_EQ(found.rank, expected.rank) << expected.path;
  }
}

TEST(PathMetadata, AWriterMayBeAProcess) {
  EXPECT_EQ(timeline_path_metadata("1594_3-algo-2_pythontimeline.json.gz").rank, 3);
  EXPECT_EQ(timeline_path_metadata("1594_3-algo-2_pythontimeline.json.gz").node, "algo-2");
  const NodeRank found = timeline_path_metadata("/f/1795236016087300_19952-vm_pythontimeline.json");
  EXPECT_EQ(found.node, "vm");
  EXPECT_EQ(found.rank, kNoRank);
  EXPECT_EQ(found.process, 19952);
  EXPECT_EQ(timeline_path_metadata("/f/3-vm_pythontimeline.json.tmp").process, kNoProcess);
}

TEST(PathMetadata, ProfileNodeRankAndEnd) {
  const ProfilePathMetadata local = profile_path_metadata("/w/vm_8959.1795235697709.pt.trace.json");
  EXPECT_EQ(local.node, "vm");
  EXPECT_EQ(local.rank, kNoRank);
  EXPECT_EQ(local.process, 8959);
  EXPECT_EQ(local.end_ns, 1795235697709000000);

  const ProfilePathMetadata dotted =
      profile_path_metadata("/w/ip-1.ec2_internal_77.1787426466048337924.pt.trace.json.gz");
  EXPECT_EQ(dotted.node, "ip-1.ec2_internal");
  EXPECT_EQ(dotted.end_ns, 1787426466048337924);

  EXPECT_EQ(profile_path_metadata("worker0.1623143566756.pt.trace.json.gz").rank, 0);
  EXPECT_EQ(profile_path_metadata("worker0.1623143566756.pt.trace.json.gz").node, "");
  const ProfilePathMetadata step =
      profile_path_metadata("worker0_step_12.1623143566756.pt.trace.json");
  EXPECT_EQ(step.node, "");
  EXPECT_EQ(step.rank, 0);
  EXPECT_EQ(step.end_ns, 1623143566756000000);
  EXPECT_EQ(profile_path_metadata("vm_31_iter3.1623143566756.pt.trace.json").node, "vm");
  EXPECT_EQ(profile_path_metadata("lockstep_12.1623143566756.pt.trace.json").node, "lockstep");
  EXPECT_EQ(profile_path_metadata("rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz").rank, 0);
  EXPECT_EQ(profile_path_metadata("rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz").end_ns,
            std::nullopt);
  EXPECT_EQ(profile_path_metadata("/x/rank17_trace.json.tmp").rank, 17);
  EXPECT_EQ(profile_path_metadata("/x/negative_queue_rank_3.json.gz").rank, 3);
  EXPECT_EQ(profile_path_metadata("/x/crank5.json").rank, kNoRank);
  EXPECT_EQ(profile_path_metadata("/x/libkineto_activities_1102.json").rank, kNoRank);
}

TEST(PathMetadata, TensorflowStart) {
  const char* path =
      "/w/tensorflow/detailed_profiling/2020080513/000000000/plugins/profile/2020_08_05/"
      "host.a.b.trace.json.gz";
  EXPECT_EQ(tensorflow_node(path), "host");
  EXPECT_EQ(metadata_directory(path), "/w/tensorflow/detailed_profiling/2020080513/000000000");
  EXPECT_EQ(metadata_directory("x.trace.json.gz"), "");
  EXPECT_EQ(metadata_start_ns("80807-h_1.local_1596659864545103_1596659864854168.metadata"),
            1596659864545103000);
  EXPECT_EQ(metadata_start_ns("x.metadata"), std::nullopt);
  EXPECT_EQ(metadata_start_ns("a_b_c.metadata"), std::nullopt);
  EXPECT_EQ(metadata_start_ns("a_1_2.json"), std::nullopt);
}

TEST(PathMetadata, JobsSideBySideBelowAWatchedPath) {
  const auto job = [](std::string_view path) { return job_of(path, "/out", "team"); };
  EXPECT_EQ(job("/out/framework/0-a_pythontimeline.json.tmp"), "team");
  EXPECT_EQ(job("/out/run-1/framework/pevents/2026112104/1_0-a_pythontimeline.json"), "team/run-1");
  EXPECT_EQ(job("/out/bert/run-2/system/incremental/2026112104/1.a.json"), "team/bert/run-2");
  EXPECT_EQ(job("/out/rank0/framework/0-a_pythontimeline.json.tmp"), "team");
  EXPECT_EQ(job("/out/traces/host_1.2.pt.trace.json"), "team") << "of the job around it";
  EXPECT_EQ(job("/out/run-1/torch_traces/host_1.2.pt.trace.json"), "team/run-1") << "the same";
  EXPECT_EQ(job("/out/logs/run-1/traces/host_1.2.pt.trace.json"), "team/logs/run-1");
  EXPECT_EQ(job("/out/logs/run-1/framework/0-a_pythontimeline.json.tmp"), "team/logs/run-1");
  EXPECT_EQ(job_of("/out/run-1/framework/x.json", "/out", ""), "run-1");
  EXPECT_EQ(job_of("/out", "/out", ""), "") << "a watched file";
}

TEST(PathMetadata, ADirectoryOfTracesIsARun) {
  const auto job = [](std::string_view path) { return job_of(path, "/logs", ""); };
  EXPECT_EQ(job("/logs/host_123.169.pt.trace.json"), "");
  EXPECT_EQ(job("/logs/run1/host_123.169.pt.trace.json"), "run1");
  EXPECT_EQ(job("/logs/run2/rank0_trace.json.gz"), "run2");
  EXPECT_EQ(job("/logs/2026-11-22/12-30-00/worker0.169.pt.trace.json"), "2026-11-22/12-30-00");
  EXPECT_EQ(job("/logs/bert/plugins/profile/2026_11_22/host_1.2.pt.trace.json"), "bert");
  EXPECT_EQ(job("/logs/plugins/profile/2026_11_22/host_1.2.pt.trace.json"), "");
  EXPECT_EQ(job("/logs/profile_run1/host_1.2.pt.trace.json"), "profile_run1");
}

TEST(PathMetadata, TheTwoDirectoriesOfKerasAreOneRun) {
  const auto job = [](std::string_view path) { return job_of(path, "/logs", ""); };
  EXPECT_EQ(job("/logs/fit/train/events.out.tfevents.1795597563.vm.1.1.v2"), "fit");
  EXPECT_EQ(job("/logs/fit/validation/events.out.tfevents.1795597564.vm.1.2.v2"), "fit");
  // torchrun --log-dir: each start of the ranks is of the same job.
  EXPECT_EQ(job("/logs/none_x/attempt_0/3/stdout.log"), "none_x");
  EXPECT_EQ(job("/logs/attempt_1/0/stderr.log"), "");
  EXPECT_EQ(job("/logs/attempt_1/train.log"), "attempt_1") << "another job of a sweep";
  EXPECT_EQ(job("/logs/train/events.out.tfevents.1795597563.vm.1.1.v2"), "");
  EXPECT_EQ(job("/logs/train/rank0_trace.json"), "train") << "no event file";
}

TEST(PathMetadata, ADirectoryOfARankAMomentOrAWriterIsNoRun) {
  const auto job = [](std::string_view path) { return job_of(path, "/logs", ""); };
  EXPECT_EQ(job("/logs/run1/rank3/trace.json"), "run1");
  EXPECT_EQ(job("/logs/worker_3/vm_3.169.pt.trace.json"), "");
  EXPECT_EQ(job("/logs/local_rank_3/trace.json"), "");
  EXPECT_EQ(job("/logs/17/trace.json"), "");
  EXPECT_EQ(job("/logs/profile_trace/iteration_10000/rank0_trace.json"), "") << "torchtitan";
  EXPECT_EQ(job("/logs/run1/step-50/rank0_trace.json"), "run1");
  EXPECT_EQ(job("/logs/ip-10-0-0-1/ip-10-0-0-1_77.169.pt.trace.json.gz"), "") << "the host";
  EXPECT_EQ(job("/logs/run1/vm_77/vm_77.169.pt.trace.json"), "run1") << "the process";
}

TEST(PathMetadata, OnlyTracesAreOfTheirDirectory) {
  const auto job = [](std::string_view path) { return job_of(path, "/out/framework", "team"); };
  EXPECT_EQ(job("/out/framework/pevents/2026112104/1_0-a_pythontimeline.json"), "team");
  EXPECT_EQ(job("/out/framework/tensorflow/detailed_profiling/1/host.trace.json.gz"), "team");
  EXPECT_EQ(job_of("/out/x/1596635613.algo-1.json", "/out", "team"), "team");
}

}  // namespace trainwatch::path_metadata_test
