// SPDX-License-Identifier: Apache-2.0
// Several Slurm jobs whose logs lie in one directory are several jobs.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/ingest_run.h"

namespace trainwatch::ingest_jobs_test {

std::string log_line(int step) {
  return " [2026-09-21 14:13:" + std::to_string(10 + step) + "] iteration        " +
         std::to_string(step) +
         "/      600 | consumed samples:           40 | elapsed time per iteration (ms): 2000.1 | "
         "learning rate: 1.0E-05 | global batch size: 4 | lm loss: 8.990000E+00 | loss scale: 1.0 "
         "| grad norm: 1.1 | number of skipped iterations:   0 | number of nan iterations:   0 |\n";
}

class IngestJobs : public testing::Test {
 protected:
  using Jobs = std::set<std::string>;

  void log(const std::string& name) { fs_.create("/r/" + name, log_line(1) + log_line(2)); }
  IngestOptions options() {
    IngestOptions options;
    options.roots = {{"/r", "r"}};
    options.list_directory = [this](const std::string& directory) {
      std::vector<std::string> names;
      if (const auto entries = fs_.list(directory)) {
        for (const DirectoryEntry& entry : *entries) names.push_back(entry.name);
      }
      return names;
    };
    return options;
  }
  static Jobs jobs_in(const test::IngestRun& run) {
    Jobs jobs;
    for (const auto& [job, known] : run.engine.ledger().runs()) {
      jobs.insert(run.engine.interner().subjects[job].job);
    }
    return jobs;
  }
  // Goes on from the last look.
  Jobs look() {
    test::IngestRun run(fs_, rows_, {}, options());
    EXPECT_TRUE(run.loaded);
    run.look(2);
    rows_ = run.rows();
    return jobs_in(run);
  }

  test::ModelFileSystem fs_;
  StoredRows rows_;
};

TEST_F(IngestJobs, OneHasTheNameOfItsDirectory) {
  log("slurm-9001.out");
  log("slurm-9001.err");
  EXPECT_EQ(look(), Jobs{""});
  log("bert/slurm-9002.out");
  EXPECT_EQ(look(), (Jobs{"", "bert"}));
}

TEST_F(IngestJobs, LaterOnesAreNamedAfterTheirNumbers) {
  log("slurm-9001.out");
  log("slurm-9002.out");
  log("bert-9002.err");
  log("a/bert-9003.out");
  log("a/bert-9004.out");
  EXPECT_EQ(look(), (Jobs{"", "9002", "a", "a/9004"}));
}

TEST_F(IngestJobs, LiveAndAfterARestartAsWhenAllIsThere) {
  log("slurm-9001.out");
  EXPECT_EQ(look(), Jobs{""});
  log("slurm-9002.out");
  EXPECT_EQ(look(), (Jobs{"", "9002"}));
  fs_.append("/r/slurm-9001.out", log_line(3));
  fs_.append("/r/slurm-9002.out", log_line(3));
  log("slurm-9003.out");
  EXPECT_EQ(look(), (Jobs{"", "9002", "9003"}));
  fs_.unlink("/r/slurm-9001.out");
  fs_.append("/r/slurm-9002.out", log_line(4));
  log("slurm-9004.out");
  EXPECT_EQ(look(), (Jobs{"", "9002", "9003", "9004"}));
}

TEST_F(IngestJobs, AnEarlierOneThatComesLateIsNoneOfThem) {
  log("slurm-9002.out");
  EXPECT_EQ(look(), Jobs{""});
  log("slurm-9001.out");
  EXPECT_EQ(look(), (Jobs{"", "9001"}));
}

// The timeline of a process as the hook writes it, with two steps a second after `begin`.
std::string timeline(int process, int begin, const std::string& labels = {}) {
  std::string text =
      "[\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 0, \"args\": "
      "{\"start_time_since_epoch_in_micros\": 1790000000000000}},\n" +
      labels +
      "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": "
      "{\"name\": \"Step:ModeKeys.TRAIN\"}},\n";
  for (int step = 0; step < 2; ++step) {
    text += "{\"name\": \"Step:ModeKeys.TRAIN\", \"pid\": 1, \"ph\": \"X\", \"ts\": " +
            std::to_string((begin + step) * 1'000'000) +
            ", \"dur\": 1000000, \"args\": {\"pid\": " + std::to_string(process) +
            ", \"step_num\": \"" + std::to_string(step) + "\"}},\n";
  }
  return text;
}

std::string labels_of_run(const std::string& run) {
  return R"({"name": "process_labels", "ph": "M", "pid": 0, "args": {"job": "bert", "run": ")" +
         run + "\", \"labels\": \"job bert, run " + run + "\"}},\n";
}

class JobsOfTimelines : public IngestJobs {
 protected:
  void write(const std::string& node, const std::string& text) {
    fs_.create("/r/framework/" + node + "_pythontimeline.json.tmp", text);
  }
};

TEST_F(JobsOfTimelines, ProcessesBesideOthersOfTheirRanksAreASecondJob) {
  write("0-host", timeline(101, 0));
  write("1-host", timeline(102, 0));
  EXPECT_EQ(look(), Jobs{""});
  write("0-host-201", timeline(201, 1));
  write("1-host-202", timeline(202, 1));
  test::IngestRun run(fs_, rows_, {}, options());
  run.look(2);
  EXPECT_EQ(jobs_in(run), (Jobs{"", "(2)"}));
  for (const auto& [job, known] : run.engine.ledger().runs()) {
    ASSERT_EQ(known.attempts().size(), 1U);
    EXPECT_EQ(known.attempts()[0].ranks().size(), 2U);
    for (const auto& [rank, state] : known.attempts()[0].ranks())
      EXPECT_EQ(run.engine.interner().subjects[rank].node, "host");
  }
  rows_ = run.rows();
  // Under the plain name once that is free, and started again beside the first job.
  write("0-host", timeline(201, 3));
  write("1-host-302", timeline(302, 60));
  EXPECT_EQ(look(), (Jobs{"", "(2)"}));
}

TEST_F(JobsOfTimelines, TheOrderOfFilesDoesNotMatter) {
  fs_.create("/r/framework/pevents/2026112107/1790000010000000_0-host-201_pythontimeline.json",
             timeline(201, 1));
  fs_.create("/r/framework/pevents/2026112107/1790000100000000_0-host_pythontimeline.json",
             timeline(101, 0));
  EXPECT_EQ(look(), (Jobs{"", "(2)"}));
}

TEST_F(JobsOfTimelines, ANodeMayHaveTheNumberOfItsProcess) {
  write("0-worker-7", timeline(7, 0));
  write("1-worker-8", timeline(8, 0));
  EXPECT_EQ(look(), Jobs{""});
}

TEST_F(JobsOfTimelines, ThirdAndFourthOnes) {
  write("0-host", timeline(101, 0));
  write("0-host-201", timeline(201, 1));
  write("0-host-301", timeline(301, 2));
  EXPECT_EQ(look(), (Jobs{"", "(2)", "(3)"}));
}

TEST_F(JobsOfTimelines, RunsThatSayWhoTheyAre) {
  write("0-host", timeline(101, 0, labels_of_run("9001")));
  EXPECT_EQ(look(), Jobs{""});
  write("0-host-201", timeline(201, 1, labels_of_run("9002")));
  log("slurm-9002.out");
  EXPECT_EQ(look(), (Jobs{"", "9002"}));
  write("0-host", timeline(101, 3, labels_of_run("9001")));
  write("0-host-201", timeline(201, 3, labels_of_run("9002")));
  EXPECT_EQ(look(), (Jobs{"", "9002"}));
}

TEST_F(JobsOfTimelines, ARandomNameOfARunIsNone) {
  write("0-host", timeline(101, 0, labels_of_run("0b7a8c52-4f0d-4b3c-9d7e-6a4c5b9f1e20")));
  EXPECT_EQ(look(), Jobs{""});
  write("0-host", timeline(102, 60, labels_of_run("6d1f3a7e-9c2b-4e8f-8a5d-2b7c9e0f4d31")));
  EXPECT_EQ(look(), Jobs{""});
}

}  // namespace trainwatch::ingest_jobs_test
