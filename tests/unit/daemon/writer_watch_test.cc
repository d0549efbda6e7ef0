// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/writer_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temp_directory.h"

namespace trainwatch::writer_watch_test {

using testing::IsEmpty;
using testing::SizeIs;
namespace fs = std::filesystem;

class WriterWatchTest : public testing::Test {
 protected:
  void starts(std::int64_t process, const std::string& file) {
    const fs::path files = fs::path(proc_.path()) / std::to_string(process) / "fd";
    fs::create_directories(files);
    fs::create_symlink("/dev/null", files / "1");
    fs::create_symlink(file, files / "5");
  }
  // Its name has what a careless reader takes for the end of it.
  void began(std::int64_t process, int ticks) {
    std::ofstream stat(fs::path(proc_.path()) / std::to_string(process) / "stat");
    stat << process << " (a) b) S";
    for (int field = 4; field < 22; ++field) stat << " 9";
    stat << ' ' << ticks << " 5 6\n";
  }
  void ends(std::int64_t process) { fs::remove_all(proc_ / std::to_string(process)); }
  std::vector<RankProcess> look(std::int64_t process) { return watch_.look({{rank_, process}}); }

  const SubjectId rank_ = static_cast<SubjectId>(3);
  test::TempDirectory proc_;
  WriterWatch watch_{{{"/watched", ""}, {"/other", ""}}, proc_.path()};
};

TEST_F(WriterWatchTest, AWriterThatEndsIsGoneOnce) {
  starts(7, "/watched/framework/0-a_pythontimeline.json.tmp");
  EXPECT_THAT(look(7), IsEmpty());
  EXPECT_THAT(look(7), IsEmpty());
  ends(7);
  EXPECT_THAT(look(7), SizeIs(1));
  EXPECT_THAT(look(7), IsEmpty());
}

TEST_F(WriterWatchTest, AProcessThatWritesNothingHereIsSomebodyElse) {
  starts(7, "/watched-not/x.json");
  EXPECT_THAT(look(7), IsEmpty());
  ends(7);
  EXPECT_THAT(look(7), IsEmpty()) << "its number is from another namespace";
  EXPECT_THAT(look(8), IsEmpty()) << "there is no such process";
}

TEST_F(WriterWatchTest, AZombieIsGone) {
  starts(7, "/other/x.json.tmp");
  EXPECT_THAT(look(7), IsEmpty());
  fs::remove_all(proc_ / "7/fd");
  fs::create_directories(proc_ / "7/fd");
  EXPECT_THAT(look(7), SizeIs(1));
}

TEST_F(WriterWatchTest, AnotherProcessWithItsNumberIsAnotherOne) {
  starts(7, "/watched/x.json");
  began(7, 1000);
  EXPECT_THAT(look(7), IsEmpty());
  EXPECT_THAT(look(7), IsEmpty());
  began(7, 2000);
  EXPECT_THAT(look(7), SizeIs(1));
}

TEST_F(WriterWatchTest, NewOnesAreFoundWhenAllAreLookedAt) {
  starts(7, "/watched/x.json");
  EXPECT_THAT(watch_.look({{rank_, 7}}, false), IsEmpty());
  ends(7);
  EXPECT_THAT(look(7), IsEmpty()) << "it was not looked at";
  starts(8, "/watched/x.json");
  EXPECT_THAT(look(8), IsEmpty());
  ends(8);
  EXPECT_THAT(watch_.look({{rank_, 8}}, false), SizeIs(1));
}

TEST_F(WriterWatchTest, ANewProcessOfTheRankIsSeenAnew) {
  starts(7, "/watched/x.json");
  EXPECT_THAT(look(7), IsEmpty());
  starts(8, "/watched/y.json");
  EXPECT_THAT(look(8), IsEmpty());
  ends(7);
  EXPECT_THAT(look(8), IsEmpty());
  ends(8);
  EXPECT_THAT(look(8), SizeIs(1));
}

}  // namespace trainwatch::writer_watch_test
