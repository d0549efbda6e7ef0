// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/trial.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "pipeline/tail/posix_file_system.h"
#include "unit/tensors/tensor_record.h"

namespace trainwatch {
namespace trial_test {

namespace fs = std::filesystem;
using namespace tensor_record;

using Steps = std::vector<std::int64_t>;

class TrialTest : public ::testing::Test {
 protected:
  TrialTest()
      : directory_(fs::canonical(fs::temp_directory_path()) /
                   ("trial_test." + std::to_string(getpid()))) {
    fs::remove_all(directory_);
    fs::create_directories(directory_ / "index");
  }
  ~TrialTest() override { fs::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((directory_ / name).parent_path());
    std::ofstream{directory_ / name, std::ios::binary} << text;
  }
  void workers(int count) {
    write("collections/000000000/worker_0_collections.json",
          R"({"collections":{"losses":{"tensor_names":[],"include_regex":["^lo+ss"]}},)"
          R"("_meta":{"num_workers":)" +
              std::to_string(count) + "}}");
  }
  void index(std::int64_t step, const std::string& worker, const std::string& meta,
             const std::string& payload) {
    std::string name = std::to_string(step);
    name.insert(0, 12 - name.size(), '0');
    write("index/000000000/" + name + '_' + worker + ".json",
          R"({"meta":{)" + meta + R"(,"event_file_name":"events"},)" + payload + '}');
  }
  void loss(std::int64_t step, const std::string& worker) {
    index(step, worker, R"("mode":"GLOBAL","mode_step":)" + std::to_string(step),
          R"("tensor_payload":[{"tensorname":"loss","start_idx":0,"length":1}])");
  }
  Trial open() {
    auto trial = Trial::open(files_, directory_.string());
    EXPECT_TRUE(trial.ok()) << trial.error().message;
    return std::move(*trial);
  }

  fs::path directory_;
  PosixFileSystem files_{{WatchRoot{directory_.string(), "trial"}}};
};

TEST_F(TrialTest, AStepIsCompleteWithAllWorkersOrALaterCompleteOne) {
  workers(2);
  loss(1, "worker_0");
  loss(2, "worker_0");
  loss(2, "worker_1");
  loss(3, "worker_1");
  const Trial trial = open();
  EXPECT_EQ(trial.last_complete_step(), 2);
  EXPECT_EQ(trial.steps(TensorMode::global), (Steps{1, 2}));
  EXPECT_EQ(trial.state(0), StepState::unavailable);
  EXPECT_EQ(trial.state(1), StepState::available);
  EXPECT_EQ(trial.state(3), StepState::not_yet_available);
  EXPECT_FALSE(trial.loaded_all_steps());
}

TEST_F(TrialTest, AtTheEndOfTheJobEveryStepIsComplete) {
  workers(2);
  loss(1, "worker_0");
  for (const char* name : {"training_job_end.ts", "END_OF_JOB.ts"}) {
    EXPECT_EQ(open().last_complete_step(), -1);
    write(name, "");
    const Trial trial = open();
    EXPECT_EQ(trial.steps(TensorMode::global), Steps{1});
    EXPECT_EQ(trial.state(1), StepState::available);
    EXPECT_EQ(trial.state(2), StepState::unavailable);
    EXPECT_TRUE(trial.loaded_all_steps());
    fs::remove(directory_ / name);
  }
}

TEST_F(TrialTest, BeyondTheWaitWindowTheOldestHalfIsNotWaitedFor) {
  workers(2);
  for (int step = 0; step < 1000; ++step) loss(step, "worker_0");
  EXPECT_EQ(open().last_complete_step(), -1);
  loss(1000, "worker_0");
  EXPECT_EQ(open().last_complete_step(), 499);
}

TEST_F(TrialTest, StepsOfModes) {
  workers(1);
  const std::string payload =
      R"("tensor_payload":[{"tensorname":"loss","start_idx":0,"length":1}])";
  index(4, "worker_0", R"("mode":"TRAIN","mode_step":3)", payload);
  index(5, "worker_0", R"("mode":"EVAL","mode_step":0)", payload);
  const Trial trial = open();
  EXPECT_EQ(trial.steps(TensorMode::train), Steps{3});
  EXPECT_EQ(trial.steps(TensorMode::eval), Steps{0});
  EXPECT_EQ(trial.steps(TensorMode::predict), Steps{});
  EXPECT_EQ(trial.mode_step(5), (ModeStep{TensorMode::eval, 0}));
}

// smdebug forgets the values of a tensor whose shape is saved in the same file.
TEST_F(TrialTest, ATensorInBothPayloadsHasItsValuesAndItsShape) {
  workers(1);
  const std::string record =
      frame(event(with_content(tensor(1, {2}), bytes_of(std::vector<float>{4, 5}))));
  write("events", "before" + record);
  index(0, "worker_0", R"("mode":"GLOBAL","mode_step":0)",
        R"("tensor_payload":[{"tensorname":"both","start_idx":6,"length":)" +
            std::to_string(record.size()) +
            R"(}],"shape_payload":[{"tensorname":"both","originalname":"o","shape":[2]}])");
  const Trial trial = open();
  const auto read = trial.read_index(trial.index_files().front());
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->tensors.size(), 1U);
  EXPECT_EQ(read->tensors[0].shape, Steps{2});
  const auto value = trial.read_value(*read, *read->tensors[0].record);
  ASSERT_TRUE(value.ok()) << value.error().message;
  EXPECT_EQ(std::get<std::vector<double>>(value->values), (std::vector<double>{4, 5}));
  EXPECT_FALSE(trial.read_value(*read, {6, record.size() + 1}).ok());
}

TEST_F(TrialTest, ReductionsAreNoTensorsOfTheirOwn) {
  workers(1);
  index(
      0, "worker_0", R"("mode":"GLOBAL","mode_step":0)",
      R"("tensor_payload":[{"tensorname":"smdebug/reductions/abs_max/w","start_idx":0,"length":1},)"
      R"({"tensorname":"smdebug/reductions/l1/only/reduced","start_idx":0,"length":1},)"
      R"({"tensorname":"w:0","start_idx":0,"length":1}])");
  const Trial trial = open();
  EXPECT_EQ(trial.names(), (std::set<std::string>{"only/reduced", "w:0"}));
  EXPECT_EQ(parse_reduction_name("smdebug/reductions/abs_max/w").reduction, "abs_max");
  EXPECT_EQ(reduced_tensor("smdebug/reductions/abs_max/w", trial.names()), "w:0");
}

TEST_F(TrialTest, CollectionsByPatternAndABrokenIndexFileCostsItself) {
  workers(1);
  loss(0, "worker_0");
  write("index/000000000/000000000001_worker_0.json", R"({"meta":{)");
  write("index/000000000/000000000002_worker_0.json.tmp", "");
  const Trial trial = open();
  EXPECT_EQ(trial.collections().at("losses"), std::vector<std::string>{"loss"});
  EXPECT_EQ(trial.rejected().size(), 1U);
  EXPECT_EQ(trial.steps(TensorMode::global), Steps{0});
}

// Python's lookahead is no pattern of RE2's.
TEST_F(TrialTest, APatternThatCannotBeMatchedIsReported) {
  loss(0, "worker_0");
  write("collections/000000000/worker_0_collections.json",
        R"x({"collections":{"odd":{"tensor_names":["loss"],"include_regex":["x(?=y)","lo"]}}})x");
  Trial trial = open();
  EXPECT_EQ(trial.collections().at("odd"), std::vector<std::string>{"loss"});
  ASSERT_EQ(trial.rejected().size(), 1U);
  EXPECT_NE(trial.rejected()[0].message.find(
                "the include_regex 'x(?=y)' of collection 'odd' matches nothing: "),
            std::string::npos)
      << trial.rejected()[0].message;
  ASSERT_TRUE(trial.refresh().ok());
  EXPECT_EQ(trial.rejected().size(), 1U);
}

TEST_F(TrialTest, ARefreshReadsWhatWasWrittenSince) {
  workers(2);
  loss(1, "worker_0");
  Trial trial = open();
  EXPECT_EQ(trial.last_complete_step(), -1);
  loss(1, "worker_1");
  index(2, "worker_1", R"("mode":"EVAL","mode_step":0)",
        R"("tensor_payload":[{"tensorname":"accuracy","start_idx":0,"length":1}])");
  write("index/000000000/000000000003_worker_0.json", "{");
  ASSERT_TRUE(trial.refresh().ok());
  EXPECT_EQ(trial.steps(TensorMode::global), Steps{1});
  EXPECT_EQ(trial.names(), (std::set<std::string>{"accuracy", "loss"}));
  EXPECT_EQ(trial.index_files(1).size(), 2U);
  EXPECT_EQ(trial.state(TensorMode::eval, 0), StepState::not_yet_available);
  EXPECT_EQ(trial.rejected().size(), 1U);
  write("training_job_end.ts", "");
  ASSERT_TRUE(trial.refresh().ok());
  EXPECT_EQ(trial.steps(TensorMode::global), (Steps{1, 2}));
  EXPECT_EQ(trial.global_step(TensorMode::eval, 0), 2);
  EXPECT_EQ(trial.state(TensorMode::eval, 0), StepState::available);
  EXPECT_EQ(trial.state(TensorMode::eval, 1), StepState::unavailable);
  EXPECT_EQ(trial.state(TensorMode::predict, 0), StepState::unavailable);
  EXPECT_EQ(trial.rejected().size(), 1U) << "a broken file is reported once";
}

// The same whenever it looked: worker_0's mode counts though worker_1's was seen first.
TEST_F(TrialTest, ARefreshGivesWhatOpeningGives) {
  workers(2);
  const std::string payload =
      R"("tensor_payload":[{"tensorname":"smdebug/reductions/min/w","start_idx":0,"length":1}])";
  index(4, "worker_1", R"("mode":"TRAIN","mode_step":3)", payload);
  Trial trial = open();
  EXPECT_EQ(trial.names(), std::set<std::string>{"w"});
  index(4, "worker_0", R"("mode":"EVAL","mode_step":1)",
        R"("tensor_payload":[{"tensorname":"w:0","start_idx":0,"length":1}])");
  ASSERT_TRUE(trial.refresh().ok());
  const Trial fresh = open();
  EXPECT_EQ(trial.mode_step(4), (ModeStep{TensorMode::eval, 1}));
  EXPECT_EQ(trial.mode_step(4), fresh.mode_step(4));
  EXPECT_EQ(trial.names(), std::set<std::string>{"w:0"});
  EXPECT_EQ(trial.names(), fresh.names());
}

TEST_F(TrialTest, LimitsAreReported) {
  workers(1);
  for (int step = 0; step < 5; ++step) loss(step, "worker_0");
  TrialLimits limits;
  limits.index_files = 3;
  const auto trial = Trial::open(files_, directory_.string(), limits);
  ASSERT_TRUE(trial.ok());
  EXPECT_EQ(trial->index_files().size(), 3U);
  ASSERT_EQ(trial->rejected().size(), 1U);
  limits = {};
  limits.name_bytes = 3;
  EXPECT_TRUE(Trial::open(files_, directory_.string(), limits)->names().empty());
}

TEST_F(TrialTest, TrialsAreFoundBelowADirectory) {
  EXPECT_EQ(find_trials(files_, directory_.string()),
            std::vector<std::string>{directory_.string()});
  fs::rename(directory_ / "index", directory_ / "indices");
  fs::create_directories(directory_ / "job/debug-output/index");
  EXPECT_EQ(find_trials(files_, directory_.string()),
            std::vector<std::string>{(directory_ / "job/debug-output").string()});
  EXPECT_FALSE(Trial::open(files_, directory_.string()).ok());
}

}  // namespace trial_test
}  // namespace trainwatch
