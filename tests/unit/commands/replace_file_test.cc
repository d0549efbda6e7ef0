// SPDX-License-Identifier: Apache-2.0
#include "commands/replace_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/temp_directory.h"

namespace trainwatch::replace_file_test {

namespace fs = std::filesystem;

TEST(ReplaceFile, PutsTheNewContentInThePlaceOfTheOld) {
  const test::TempDirectory directory;
  for (const std::string content : {"first", "the second"}) {
    ASSERT_TRUE(replace_file(directory / "page.html", content));
    EXPECT_EQ(directory.read("page.html"), content);
  }
  const auto files = fs::directory_iterator(directory.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(ReplaceFile, FollowsALink) {
  const test::TempDirectory directory;
  directory.append("there/page.html", "old");
  fs::create_symlink("there/page.html", directory / "link.html");
  ASSERT_TRUE(replace_file(directory / "link.html", "new"));
  EXPECT_TRUE(fs::is_symlink(directory / "link.html"));
  EXPECT_EQ(directory.read("there/page.html"), "new");
}

TEST(ReplaceFile, WritesToADeviceAndLeavesItThere) {
  ASSERT_TRUE(replace_file("/dev/null", "content"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(FileReplacement, ChangesNothingBeforeItIsComplete) {
  const test::TempDirectory directory;
  directory.append("page.html", "old");
  const auto count = [&directory] {
    const auto files = fs::directory_iterator(directory.path());
    return std::distance(begin(files), end(files));
  };
  {
    auto left = FileReplacement::begin(directory / "page.html");
    ASSERT_TRUE(left);
    ASSERT_TRUE(left->write("a part"));
    EXPECT_EQ(count(), 2);
  }
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(directory.read("page.html"), "old");
  auto file = FileReplacement::begin(directory / "page.html");
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("one, "));
  ASSERT_TRUE(file->write("two"));
  EXPECT_EQ(directory.read("page.html"), "old");
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(directory.read("page.html"), "one, two");
  EXPECT_EQ(count(), 1);
}

TEST(ReplaceFile, SaysWhyItCannot) {
  const test::TempDirectory directory;
  EXPECT_TRUE(can_replace(directory / "page.html"));
  EXPECT_TRUE(can_replace("page.html"));
  const Status nowhere = can_replace(directory / "none/page.html");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().message, directory / "none" + ": no such directory");
  EXPECT_FALSE(can_replace(directory.path()));
  EXPECT_FALSE(replace_file(directory / "none/page.html", "x"));
}

}  // namespace trainwatch::replace_file_test
