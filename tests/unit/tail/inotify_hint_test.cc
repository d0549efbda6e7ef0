// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/inotify_hint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "tests/support/temp_directory.h"

namespace trainwatch::test::inotify_hint_test {

using Wake = InotifyHint::Wake;
using namespace std::chrono_literals;

constexpr auto kAtOnce = 0ms;  // events of this process are there when its call returns
constexpr auto kLong = 60s;

class InotifyTest : public ::testing::Test {
 protected:
  InotifyTest() { hint.add(dir.path()); }

  TempDirectory dir;
  InotifyHint hint;
};

TEST_F(InotifyTest, NothingHappens) {
  EXPECT_EQ(hint.wait(kAtOnce), Wake::timeout);
  EXPECT_TRUE(hint.degraded().empty() || hint.degraded() == "network_fs");
}

TEST_F(InotifyTest, DistinguishesNamesFromContent) {
  dir.append("a.json", "");
  EXPECT_EQ(hint.wait(kLong), Wake::directories_changed);
  EXPECT_EQ(hint.wait(kAtOnce), Wake::timeout);
  dir.append("a.json", "x");
  EXPECT_EQ(hint.wait(kLong), Wake::files_changed);
  std::filesystem::resize_file(dir / "a.json", 0);
  EXPECT_EQ(hint.wait(kLong), Wake::files_changed);
  dir.rename("a.json", "b.json");
  EXPECT_EQ(hint.wait(kLong), Wake::directories_changed);
  dir.append("b.json", "y");
  ::unlink((dir / "b.json").c_str());
  EXPECT_EQ(hint.wait(kLong), Wake::directories_changed);
}

TEST_F(InotifyTest, NamesThePathsThatChanged) {
  using ::testing::IsEmpty;
  using ::testing::Optional;
  using ::testing::UnorderedElementsAre;
  EXPECT_THAT(hint.take_changed(), Optional(IsEmpty()));
  dir.append("a.json", "x");
  dir.append("b.json", "");
  hint.wait(kLong);
  dir.append("a.json", "y");
  hint.wait(kLong);
  EXPECT_THAT(hint.take_changed(), Optional(UnorderedElementsAre(dir / "a.json", dir / "b.json")));
  EXPECT_THAT(hint.take_changed(), Optional(IsEmpty()));
}

TEST_F(InotifyTest, SaysWhenThereAreTooManyPathsToName) {
  for (int i = 0; i < 5000; ++i) dir.append(std::to_string(i) + ".json", "");
  hint.wait(kLong);
  EXPECT_EQ(hint.take_changed(), std::nullopt);
  dir.append("a.json", "");
  hint.wait(kLong);
  EXPECT_EQ(hint.take_changed().value(), std::vector<std::string>{dir / "a.json"});
}

TEST_F(InotifyTest, ALinkThatTookThePlaceOfADirectoryIsNotWatched) {
  const TempDirectory elsewhere;
  std::filesystem::create_directory_symlink(elsewhere.path(), dir / "link");
  hint.wait(kLong);
  hint.add(dir / "link");
  elsewhere.append("a.json", "x");
  EXPECT_EQ(hint.wait(kAtOnce), Wake::timeout);
}

TEST_F(InotifyTest, ADirectoryIsWatchedOnlyOnceItIsAdded) {
  std::filesystem::create_directory(dir / "sub");
  EXPECT_EQ(hint.wait(kLong), Wake::directories_changed);
  dir.append("sub/a.json", "x");
  EXPECT_EQ(hint.wait(kAtOnce), Wake::timeout);
  EXPECT_TRUE(hint.add(dir / "sub"));
  EXPECT_FALSE(hint.add(dir / "sub"));
  EXPECT_FALSE(hint.add(dir / "sub/../sub")) << "another name shares its watch";
  EXPECT_FALSE(hint.add(dir / "sub"));
  dir.append("sub/a.json", "x");
  EXPECT_EQ(hint.wait(kLong), Wake::files_changed);
}

TEST_F(InotifyTest, ADirectoryThatWasDeletedOrMovedCanBeAddedAnew) {
  for (const bool moved : {false, true}) {
    std::filesystem::create_directory(dir / "sub");
    hint.add(dir / "sub");
    if (moved) {
      dir.rename("sub", "away");
    } else {
      std::filesystem::remove(dir / "sub");
    }
    EXPECT_EQ(hint.wait(kLong), Wake::directories_changed);
    std::filesystem::create_directory(dir / "sub");
    hint.wait(kLong);
    hint.add(dir / "sub");
    dir.append("sub/a.json", "");
    EXPECT_EQ(hint.wait(kLong), Wake::directories_changed);
    std::filesystem::remove_all(dir / "sub");
    hint.wait(kLong);
  }
}

TEST_F(InotifyTest, MoreEventsThanOneBufferHolds) {
  for (int i = 0; i < 2000; ++i) dir.append(std::to_string(i) + ".json", "x");
  EXPECT_EQ(hint.wait(kLong), Wake::directories_changed);
  EXPECT_EQ(hint.wait(kAtOnce), Wake::timeout);
}

TEST_F(InotifyTest, WakesFromAnotherThread) {
  std::thread other([this] { hint.wake(); });
  EXPECT_EQ(hint.wait(kLong), Wake::woken);
  other.join();
  EXPECT_EQ(hint.wait(kAtOnce), Wake::timeout);
  hint.wake();
  hint.wake();
  EXPECT_EQ(hint.wait(kLong), Wake::woken);
  EXPECT_EQ(hint.wait(kAtOnce), Wake::timeout);
}

TEST_F(InotifyTest, ADirectoryThatIsNotThereIsNoFault) {
  const std::string before(hint.degraded());
  EXPECT_FALSE(hint.add(dir / "none"));
  dir.append("file.json", "");
  hint.add(dir / "file.json");
  EXPECT_EQ(hint.degraded(), before);
}

// With one descriptor left, wake() gets it and inotify does not.
TEST(InotifyUnavailable, SaysSoAndStillWaitsAndWakes) {
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  const int next = ::dup(0);
  ASSERT_GE(next, 0);
  ::close(next);
  const rlimit one_left{static_cast<rlim_t>(next) + 1, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one_left), 0);
  InotifyHint hint;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  EXPECT_EQ(hint.degraded(), "unavailable");
  hint.add("/");
  EXPECT_EQ(hint.wait(kAtOnce), Wake::timeout);
  hint.wake();
  EXPECT_EQ(hint.wait(kLong), Wake::woken);
}

}  // namespace trainwatch::test::inotify_hint_test
