// SPDX-License-Identifier: Apache-2.0
#include "pipeline/profile/profile_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/profile/marshal_reader.h"
#include "pipeline/tail/posix_file_system.h"
#include "support/model_file_system.h"
#include "unit/profile/profile_samples.h"

namespace trainwatch::profile_report_test {

using simdjson::dom::element;
using test::marshal_float;
using test::marshal_int;
using test::marshal_text;
using test::marshal_tuple;
using test::ModelFileSystem;
using ::testing::ElementsAre;

const std::string kInit = "prestepzero-*-start-1000.0_train-0-stepstart-2000.0/";
const std::string kForward = "train-4-stepstart-3000.0_train-4-forwardpassend-3500.0/";
const std::string kBackward = "train-4-forwardpassend-3500.0_train-4-stepend-4000.0/";
const std::string kFinish = "train-9-stepend-5000.0_posthookclose-*-end-6000.0/";

// One function, called once.
std::string dump(std::string_view function, std::string_view seconds) {
  return "{" + marshal_tuple(marshal_text("train.py"), marshal_int(7), marshal_text(function)) +
         marshal_tuple(marshal_int(1), marshal_int(1), marshal_float(seconds),
                       marshal_float(seconds), std::string{"{0"}) +
         "0";
}

class ProfileReport : public ::testing::Test {
 protected:
  void write(const std::string& name, std::string content) {
    files_.create("/job/framework/pytorch/cprofile/" + name, std::move(content));
  }
  void write_job() {
    write("0-algo-1/" + kInit + "python_stats", dump("setup", "9.5"));
    write("0-algo-1/" + kForward + "python_stats", dump("forward", "0.25"));
    write("0-algo-1/" + kBackward + "python_stats", dump("backward", "0.5"));
    write("0-algo-2/" + kForward + "python_stats", dump("forward", "0.125"));
    write("0-algo-1/" + kFinish + "python_stats", dump("save", "2.0"));
    write("0-algo-1/" + kForward + "python_stats.json",
          R"({"duration": 0.5, "sample_count": 500, "root_frame": {"function": "forward",)"
          R"("file_path": "train.py", "line_no": 7, "time": 0.5, "children": []}})");
  }
  element report(const ProfileReportOptions& options = {}) {
    json_ = python_profile(files_, find_profiles(files_, {"/job"}), options).json();
    return parser_.parse(json_);
  }
  static std::vector<std::string> rows(element part) {
    std::vector<std::string> rows;
    for (const element row : part["top_functions"]["rows"].get_array()) {
      rows.push_back(simdjson::minify(row));
    }
    return rows;
  }

  ModelFileSystem files_;
  std::string json_;
  simdjson::dom::parser parser_;
};

TEST_F(ProfileReport, FindsProfilesInTheOrderOfTheirStart) {
  write_job();
  write("0-algo-1/" + kForward + "python_stats.html", "<html>");
  write("0-algo-1/elsewhere/python_stats", dump("f", "1.0"));
  const ProfileIndex index = find_profiles(files_, {"/job", "/job/framework", "/nowhere"});
  std::vector<std::int64_t> starts;
  for (const FoundProfile& each : index.profiles)
    starts.push_back(to_ns(each.name.start.at) / 1000);
  EXPECT_THAT(starts, ElementsAre(1000, 3000, 3000, 3000, 3500, 5000));
  ASSERT_EQ(index.rejected.size(), 1);
  EXPECT_EQ(index.rejected[0].path,
            "/job/framework/pytorch/cprofile/0-algo-1/elsewhere/python_stats");
  EXPECT_EQ(index.left_out, 0);
}

TEST_F(ProfileReport, ARootMayBeOneProfile) {
  write_job();
  const std::string path = "/job/framework/pytorch/cprofile/0-algo-1/" + kInit + "python_stats";
  EXPECT_EQ(find_profiles(files_, {path}).profiles.size(), 1);
}

TEST_F(ProfileReport, WhatIsBeyondTheBoundsIsCounted) {
  for (std::size_t i = 0; i < ProfileIndex::kMaxProfiles + 3; ++i) {
    const std::string at = std::to_string(i) + ".0";
    write("n/train-1-stepstart-" + at + "_train-1-stepend-" + at + "/python_stats", "{0");
  }
  for (std::size_t i = 0; i < ProfileIndex::kMaxRejections + 2; ++i) {
    write("n/other-" + std::to_string(i) + "/python_stats", "{0");
  }
  const ProfileIndex index = find_profiles(files_, {"/job"});
  EXPECT_EQ(index.profiles.size(), ProfileIndex::kMaxProfiles);
  EXPECT_EQ(index.rejected.size(), ProfileIndex::kMaxRejections);
  EXPECT_EQ(index.left_out, 5);
}

TEST_F(ProfileReport, PartsOfTheJob) {
  write_job();
  const element cprofile = report()["cprofile"];
  EXPECT_EQ(simdjson::minify(cprofile["before_step_zero"]["top_functions"]["columns"]),
            R"(["file","line","function","pcalls","ncalls","total_time_ns","cumulative_time_ns"])");
  EXPECT_THAT(rows(cprofile["before_step_zero"]),
              ElementsAre(R"(["train.py",7,"setup",1,1,9500000000,9500000000])"));
  EXPECT_THAT(rows(cprofile["after_hook_close"]),
              ElementsAre(R"(["train.py",7,"save",1,1,2000000000,2000000000])"));
  EXPECT_THAT(rows(cprofile["training_loop"]),
              ElementsAre(R"(["train.py",7,"backward",1,1,500000000,500000000])",
                          R"(["train.py",7,"forward",2,2,375000000,375000000])"));
  EXPECT_EQ(cprofile["training_loop"]["profiles"].get_int64().value(), 3);
  EXPECT_EQ(cprofile["training_loop"]["functions"].get_int64().value(), 2);
  EXPECT_EQ(cprofile["training_loop"]["ncalls"].get_int64().value(), 3);
  EXPECT_EQ(cprofile["training_loop"]["total_time_ns"].get_int64().value(), 875'000'000);
}

TEST_F(ProfileReport, EachPairOfModesAndPhases) {
  write_job();
  std::vector<std::string> phases;
  for (const element phase : report()["cprofile"]["phases"].get_array()) {
    phases.push_back(simdjson::minify(phase["start_mode"]) +
                     simdjson::minify(phase["start_phase"]) + simdjson::minify(phase["end_mode"]) +
                     simdjson::minify(phase["end_phase"]) + simdjson::minify(phase["profiles"]) +
                     rows(phase).front());
  }
  EXPECT_THAT(
      phases,
      ElementsAre(
          R"("train""stepstart""train""forwardpassend"2["train.py",7,"forward",2,2,375000000,375000000])",
          R"("train""forwardpassend""train""stepend"1["train.py",7,"backward",1,1,500000000,500000000])",
          R"("train""stepend""posthookclose""end"1["train.py",7,"save",1,1,2000000000,2000000000])",
          R"("prestepzero""start""train""stepstart"1["train.py",7,"setup",1,1,9500000000,9500000000])"));
}

TEST_F(ProfileReport, PyinstrumentBesideCprofile) {
  write_job();
  const element loop = report()["pyinstrument"]["training_loop"];
  EXPECT_EQ(
      simdjson::minify(loop),
      R"({"profiles":1,"functions":1,"dropped":0,"samples":500,"duration_ns":500000000,)"
      R"("top_functions":{"columns":["file","line","function","self_time_ns","total_time_ns"],)"
      R"("rows":[["train.py",7,"forward",500000000,500000000]]}})");
}

TEST_F(ProfileReport, OfTheProfilesThatAreAskedFor) {
  write_job();
  ProfileReportOptions options;
  options.query.node = "algo-2";
  const element one_node = report(options);
  EXPECT_EQ(simdjson::minify(one_node["nodes"]), R"([{"node":"algo-2","rank":0}])");
  EXPECT_THAT(rows(one_node["cprofile"]["training_loop"]),
              ElementsAre(R"(["train.py",7,"forward",1,1,125000000,125000000])"));
  options.query = {};
  options.query.interval = {time_from_ns(3'600'000), time_from_ns(3'700'000)};
  EXPECT_THAT(rows(report(options)["cprofile"]["training_loop"]),
              ElementsAre(R"(["train.py",7,"backward",1,1,500000000,500000000])"));
  options.query = {};
  options.top = 1;
  EXPECT_EQ(rows(report(options)["cprofile"]["training_loop"]).size(), 1);
}

TEST_F(ProfileReport, NothingThereIsAnEmptyReport) {
  const element empty = report();
  EXPECT_EQ(simdjson::minify(empty["nodes"]), "[]");
  EXPECT_EQ(empty["cprofile"]["training_loop"]["profiles"].get_int64().value(), 0);
  EXPECT_THAT(rows(empty["cprofile"]["training_loop"]), ElementsAre());
  EXPECT_EQ(simdjson::minify(empty["cprofile"]["phases"]), "[]");
  EXPECT_EQ(simdjson::minify(empty["rejected"]), "[]");
}

TEST_F(ProfileReport, ABrokenProfileCostsOneRejection) {
  write_job();
  const std::string whole = dump("forward", "0.25");
  const std::string path = "0-algo-1/" + kForward + "python_stats";
  write(path, whole.substr(0, whole.size() - 1));  // is still being written
  const element report_now = report();
  ASSERT_EQ(report_now["rejected"].get_array().value().size(), 1);
  EXPECT_EQ(report_now["rejected"].at(0)["reason"].get_string().value(),
            "byte " + std::to_string(whole.size() - 1) + ": the dump ends inside a value");
  EXPECT_EQ(report_now["cprofile"]["training_loop"]["profiles"].get_int64().value(), 2);
  write(path, whole);
  EXPECT_EQ(report()["cprofile"]["training_loop"]["profiles"].get_int64().value(), 3);
}

TEST_F(ProfileReport, FilesThatCannotBeReadAreRejected) {
  write_job();
  const std::string base = "/job/framework/pytorch/cprofile/0-algo-1/";
  files_.fail_open(base + kInit + "python_stats", "no permission");
  files_.fail_read(base + kFinish + "python_stats", "input/output error");
  write("0-algo-1/" + kBackward + "python_stats", std::string(kMaxMarshalBytes + 1, 'N'));
  const element rejected = report()["rejected"];
  ASSERT_EQ(rejected.get_array().value().size(), 3);
  EXPECT_EQ(rejected.at(0)["reason"].get_string().value(), "no permission");
  EXPECT_EQ(rejected.at(1)["reason"].get_string().value(), "larger than 33554432 bytes");
  EXPECT_EQ(rejected.at(2)["reason"].get_string().value(), "input/output error");
}

TEST_F(ProfileReport, ShortReadsGiveTheSame) {
  write_job();
  const std::string at_once = simdjson::minify(report());
  files_.short_reads(3);
  EXPECT_EQ(simdjson::minify(report()), at_once);
}

TEST_F(ProfileReport, TheRecordedJob) {
  PosixFileSystem files({{test::kRecorded, "recorded"}});
  const ProfileIndex index = find_profiles(files, {test::kRecorded});
  EXPECT_EQ(index.profiles.size(), 5);
  const std::string json = python_profile(files, index, {}).json();
  const element recorded = parser_.parse(json);
  const element cprofile = recorded["cprofile"];
  EXPECT_EQ(cprofile["before_step_zero"]["ncalls"].get_int64().value(), 14);
  EXPECT_EQ(cprofile["training_loop"]["ncalls"].get_int64().value(), 54);
  EXPECT_EQ(cprofile["after_hook_close"]["ncalls"].get_int64().value(), 6);
  EXPECT_EQ(rows(cprofile["training_loop"]).front().substr(0, 25), R"(["record.py",45,"step",3,)");
  EXPECT_EQ(simdjson::minify(recorded["rejected"]), "[]");
}

}  // namespace trainwatch::profile_report_test
