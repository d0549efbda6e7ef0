// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "commands/sample/metrics_file.h"

namespace trainwatch::sample_file_test {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class MetricsFileTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string directory_ = testing::TempDir() + "metrics_file_" +
                           testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST(MetricsFilePath, IsTheMinuteInUtcUnderItsHour) {
  EXPECT_EQ(MetricsFile::path_of("/job", "algo-1", time_from_ns(1591748109'232195400)),
            "/job/system/incremental/2020061000/1591748100.algo-1.json");
}

TEST(NodeName, KeepsWhatFileNamesOfSageMakerAllow) {
  EXPECT_EQ(node_name_of("gpu_box.example.com"), "gpu-box-example-com");
  EXPECT_EQ(node_name_of(""), "localhost");
  EXPECT_TRUE(is_node_name("algo-1"));
  EXPECT_FALSE(is_node_name("a/b"));
  EXPECT_FALSE(is_node_name("a.b"));
  EXPECT_FALSE(is_node_name(""));
}

TEST_F(MetricsFileTest, WritesTheBytesOfRealFiles) {
  MetricsFile file(directory_, "algo-1");
  const Metric metrics[] = {
      {"i/o", "IOPS", "", Metric::kNoDevice, 12.5},
      {"cpu", "cpu", "CPUUtilization", 12, 4.756},
      {"gpu", "gpu", "GPUUtilization", 0, 100},
      {"network", "ReceiveBytesPerSecond", "Algorithm", Metric::kNoDevice, 12345678901.05}};
  ASSERT_TRUE(file.write(time_from_ns(1591748109'232195400), metrics));
  EXPECT_EQ(
      text_of(directory_ + "/system/incremental/2020061000/1591748100.algo-1.json"),
      R"({"Type":"i/o","Name":"IOPS","Dimension":"","Value":12.5,"NodeId":"algo-1","Timestamp":1591748109.232195}
{"Type":"cpu","Name":"cpu12","Dimension":"CPUUtilization","Value":4.76,"NodeId":"algo-1","Timestamp":1591748109.232195}
{"Type":"gpu","Name":"gpu0","Dimension":"GPUUtilization","Value":100,"NodeId":"algo-1","Timestamp":1591748109.232195}
{"Type":"network","Name":"ReceiveBytesPerSecond","Dimension":"Algorithm","Value":12345678901.05,"NodeId":"algo-1","Timestamp":1591748109.232195}
)");
}

TEST_F(MetricsFileTest, ANewMinuteBeginsANewFileAndARestartAppends) {
  const Metric one[] = {{"cpu", "cpu", "CPUUtilization", 0, 1}};
  const Time late = time_from_ns(1591751999'900000000);
  {
    MetricsFile file(directory_, "n");
    ASSERT_TRUE(file.write(late, one));
    ASSERT_TRUE(file.write(late + std::chrono::milliseconds{200}, one));
  }
  ASSERT_TRUE(MetricsFile(directory_, "n").write(late, one));
  const std::string first = text_of(MetricsFile::path_of(directory_, "n", late));
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 2);
  EXPECT_THAT(text_of(directory_ + "/system/incremental/2020061001/1591752000.n.json"),
              testing::HasSubstr("1591752000.100000}"));
}

TEST_F(MetricsFileTest, NothingToSayMakesNoFile) {
  ASSERT_TRUE(MetricsFile(directory_, "n").write(time_from_ns(0), {}));
  EXPECT_FALSE(std::filesystem::exists(directory_));
}

TEST_F(MetricsFileTest, AFailureNamesThePath) {
  std::ofstream(directory_) << "a file where a directory is wanted";
  const Metric one[] = {{"cpu", "cpu", "CPUUtilization", 0, 1}};
  const Status written = MetricsFile(directory_, "n").write(time_from_ns(0), one);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, testing::HasSubstr(directory_));
}

}  // namespace trainwatch::sample_file_test
