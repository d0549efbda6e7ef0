// SPDX-License-Identifier: Apache-2.0
#include "commands/trace_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/tail/posix_file_system.h"
#include "rules/catalog.h"
#include "support/temp_directory.h"

namespace trainwatch::trace_files_test {

using testing::ElementsAre;

class TraceFilesTest : public testing::Test {
 protected:
  std::vector<std::string> found(const std::vector<std::string>& paths) {
    std::vector<std::string> names;
    for (const TraceFile& file : trace_files(files_, paths, config_))
      names.push_back(file.path.substr(directory_.path().size() + 1));
    return names;
  }

  test::TempDirectory directory_;
  PosixFileSystem files_{{{directory_.path(), "t"}}};
  Config config_{rule_catalog()};
};

TEST_F(TraceFilesTest, OneOfEachInTheOrderOfTime) {
  directory_.append("host_1.1787426465773.pt.trace.json.gz", "x");
  directory_.append("b/host_1.1787426465772.pt.trace.json", "x");
  directory_.append("b/host_1.1787426465772.pt.trace.json.gz", "x");
  directory_.append("b/host_1.1787426465772.pt.trace.json.tmp", "x");
  directory_.append("notes.txt", "x");
  EXPECT_THAT(
      found({directory_.path(), directory_ / "b"}),
      ElementsAre("b/host_1.1787426465772.pt.trace.json", "host_1.1787426465773.pt.trace.json.gz"));
}

TEST_F(TraceFilesTest, AFileThatIsNamedCountsWhateverItsName) {
  directory_.append("notes.txt", "x");
  EXPECT_THAT(found({directory_ / "notes.txt"}), ElementsAre("notes.txt"));
}

TEST_F(TraceFilesTest, TheRankOfAPathIsConfigured) {
  directory_.append("b/trace.json", "x");
  WatchConfig watch;
  watch.path = directory_ / "b";
  watch.rank = 4;
  config_.watch.push_back(watch);
  const auto files = trace_files(files_, {directory_ / "b"}, config_);
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].rank, 4);
}

TEST_F(TraceFilesTest, ReadsToTheEndOrUntilNoMoreIsWanted) {
  const std::string content(1'000'000, 'x');
  directory_.append("a.json", content);
  std::string read;
  ASSERT_TRUE(read_file(files_, directory_ / "a.json",
                        [&read](std::string_view bytes) { return read += bytes, true; }));
  EXPECT_EQ(read, content);
  std::size_t pieces = 0;
  ASSERT_TRUE(read_file(files_, directory_ / "a.json",
                        [&pieces](std::string_view) { return ++pieces, false; }));
  EXPECT_EQ(pieces, 1U);
  const Status missing =
      read_file(files_, directory_ / "none", [](std::string_view) { return true; });
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, testing::HasSubstr("none"));
}

}  // namespace trainwatch::trace_files_test
