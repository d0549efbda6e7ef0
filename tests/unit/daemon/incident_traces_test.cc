// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/incident_traces.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temp_directory.h"

namespace trainwatch::incident_traces_test {

namespace fs = std::filesystem;

class IncidentTracesTest : public testing::Test {
 protected:
  IncidentTraces traces(std::uint64_t bytes, Nanos age = std::chrono::hours(1)) {
    IncidentTraces made(directory_, {bytes, age});
    EXPECT_TRUE(made.prepare());
    return made;
  }
  // As if it had been written so long ago.
  void age(const std::string& id, std::chrono::seconds by) {
    const fs::path path = directory_ + "/" + id + ".json.gz";
    fs::last_write_time(path, fs::last_write_time(path) - by);
  }

  test::TempDirectory temp_;
  std::string directory_ = temp_.path() + "/incidents";
};

TEST_F(IncidentTracesTest, KeepsWhatWasWritten) {
  IncidentTraces kept = traces(1000);
  EXPECT_FALSE(kept.read("0a"));
  ASSERT_TRUE(kept.write("0a", std::string("x\0y", 3)));
  EXPECT_EQ(traces(1000).read("0a"), std::string("x\0y", 3)) << "it is on disk";
  EXPECT_EQ(fs::status(directory_).permissions(), fs::perms::owner_all);
}

TEST_F(IncidentTracesTest, TheOldestGiveWay) {
  IncidentTraces kept = traces(250);
  ASSERT_TRUE(kept.write("01", std::string(100, 'a')));
  age("01", std::chrono::seconds(20));
  ASSERT_TRUE(kept.write("02", std::string(100, 'b')));
  age("02", std::chrono::seconds(10));
  ASSERT_TRUE(kept.write("03", std::string(100, 'c')));
  EXPECT_FALSE(kept.read("01"));
  EXPECT_TRUE(kept.read("02"));
  EXPECT_TRUE(kept.read("03"));
}

TEST_F(IncidentTracesTest, NoneIsKeptBeyondItsAge) {
  IncidentTraces kept = traces(1000);
  ASSERT_TRUE(kept.write("01", "a"));
  age("01", std::chrono::hours(2));
  ASSERT_TRUE(kept.write("02", "b"));
  EXPECT_FALSE(kept.read("01"));
  EXPECT_TRUE(kept.read("02"));
}

TEST_F(IncidentTracesTest, AFailureLeavesTheOldOne) {
  IncidentTraces kept = traces(1000);
  ASSERT_TRUE(kept.write("01", "a"));
  fs::create_directory(directory_ + "/01.json.gz.tmp");
  EXPECT_FALSE(kept.write("01", "b"));
  EXPECT_EQ(kept.read("01"), "a");
}

}  // namespace trainwatch::incident_traces_test
