// SPDX-License-Identifier: Apache-2.0
// Python's pstats on the profiles of smdebug's own sample data.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "pipeline/profile/cprofile_stats.h"
#include "pipeline/profile/profile_index.h"
#include "pipeline/profile/profile_report.h"
#include "pipeline/profile/python_function.h"
#include "pipeline/tail/posix_file_system.h"
#include "pipeline/tail/read_whole_file.h"
#include "support/source_path.h"

namespace trainwatch::python_profile_test {

namespace fs = std::filesystem;
using simdjson::dom::element;

const fs::path kShared = fs::path{source_path("../shared")};
const fs::path kReference = kShared / "reference/sagemaker_repo_python_stats.json";
const fs::path kProfiles = kShared / "data/sagemaker/profiler/resources/tfprofiler_timeline_traces";

class PythonProfileData : public ::testing::Test {
 protected:
  void SetUp() override {
    if (fs::exists(kReference) && fs::exists(kProfiles)) {
      index_ = find_profiles(files_, {kProfiles.string()});
      return;
    }
    std::cerr << "SKIPPED: " << kReference << " is not there\n";
    GTEST_SKIP() << kReference << " is not there";
  }
  CprofileStats stats_of(const FoundProfile& profile) {
    auto bytes = read_whole_file(files_, profile.path, kMaxBytes);
    EXPECT_TRUE(bytes) << bytes.error().message;
    auto stats = CprofileStats::parse(bytes ? *bytes : std::string{});
    EXPECT_TRUE(stats) << stats.error().message;
    return stats ? std::move(*stats) : CprofileStats{};
  }

  static constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
  PosixFileSystem files_{{{kProfiles.string(), "profiles"}}};
  ProfileIndex index_;
  simdjson::dom::parser parser_;
};

// As pstats.func_std_string prints it.
std::string pstats_name(const PythonFunction& function) {
  if (function.file == "~" && function.line == 0) {
    const std::string& name = function.name;
    return name.starts_with('<') ? '{' + name.substr(1, name.size() - 2) + '}' : name;
  }
  return function.file + ':' + std::to_string(function.line) + '(' + function.name + ')';
}

CallStats calls_of(element row) {
  return {row.at(1).get_int64(), row.at(2).get_int64(),
          seconds_to_ns(row.at(3).get_double()).value(),
          seconds_to_ns(row.at(4).get_double()).value()};
}

// Rows of equal cumulative time may stand in another order there.
void expect_top(const CprofileStats& stats, element rows) {
  const auto top = stats.top_by_cumulative_time(stats.functions().size());
  std::size_t place = 0;
  for (const element row : rows.get_array()) {
    const std::string name{row.at(0).get_string().value()};
    const auto found = std::find_if(top.begin(), top.end(), [&](const auto* entry) {
      return pstats_name(entry->first) == name;
    });
    ASSERT_NE(found, top.end()) << name;
    EXPECT_EQ((*found)->second.calls, calls_of(row)) << name;
    EXPECT_EQ(top[place]->second.calls.cumulative_ns, (*found)->second.calls.cumulative_ns) << name;
    ++place;
  }
}

TEST_F(PythonProfileData, EveryFigureOfTheReference) {
  const element reference = parser_.load(kReference.string());
  ASSERT_EQ(index_.profiles.size(), reference.get_object().value().size());
  EXPECT_EQ(index_.rejected.size(), 0);
  for (const FoundProfile& profile : index_.profiles) {
    const std::string key = fs::path{profile.path}.parent_path().filename().string();
    SCOPED_TRACE(key);
    const element expected = reference[key];
    const CprofileStats stats = stats_of(profile);
    EXPECT_EQ(stats.functions().size(), expected["functions"].get_uint64().value());
    EXPECT_EQ(stats.totals().ncalls, expected["total_calls"].get_int64().value());
    EXPECT_EQ(stats.totals().pcalls, expected["prim_calls"].get_int64().value());
    EXPECT_EQ(stats.totals().total_ns, seconds_to_ns(expected["total_tt"].get_double()).value());
    expect_top(stats, expected["top10_cumtime"]);
  }
}

// smdebug cannot load its own sample: the directories have the older names.
TEST_F(PythonProfileData, AnswersByPartOfTheJob) {
  const std::string json = python_profile(files_, index_, {}).json();
  const element cprofile = parser_.parse(json)["cprofile"];
  EXPECT_EQ(cprofile["before_step_zero"]["profiles"].get_int64().value(), 1);
  EXPECT_EQ(cprofile["before_step_zero"]["functions"].get_int64().value(), 2722);
  EXPECT_EQ(cprofile["training_loop"]["profiles"].get_int64().value(), 2);
  EXPECT_EQ(cprofile["after_hook_close"]["profiles"].get_int64().value(), 0);
}

TEST_F(PythonProfileData, ARealDumpCutAnywhereIsRefused) {
  const auto whole = read_whole_file(files_, index_.profiles.at(1).path, kMaxBytes);
  ASSERT_TRUE(whole);
  for (std::size_t size = 0; size < whole->size(); size += 7) {
    ASSERT_FALSE(CprofileStats::parse(whole->substr(0, size))) << size;
  }
}

}  // namespace trainwatch::python_profile_test
