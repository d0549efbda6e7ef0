// SPDX-License-Identifier: Apache-2.0
#include "commands/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "support/fake_terminal.h"

namespace trainwatch::progress_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

const Progress::Clock::time_point kStart{std::chrono::hours(1)};

class ProgressTest : public testing::Test {
 protected:
  const std::vector<std::string>& seen() {
    terminal_.write(err_.str());
    err_.str("");
    return terminal_.lines();
  }
  FakeTerminal terminal_;
  std::ostringstream err_;
};

TEST_F(ProgressTest, ABarWithRateAndTimeLeftBelowWhatIsPrinted) {
  StatusStream stream(err_, terminal_.style());
  Progress progress(stream, true);
  progress.found(200'000'000, kStart);
  progress.show_left(150'000'000, kStart + milliseconds(500));
  EXPECT_THAT(seen(), ElementsAre("[#####...............] 25 %, 100 MB/s, 2 s left"));
  progress.show_left(140'000'000, kStart + milliseconds(600));
  EXPECT_THAT(seen(), ElementsAre("[#####...............] 25 %, 100 MB/s, 2 s left")) << "too soon";
  stream.print("a line\n");
  EXPECT_THAT(seen(), ElementsAre("a line", "[#####...............] 25 %, 100 MB/s, 2 s left"));
  progress.found(340'000'000, kStart + seconds(1));  // more files
  progress.show_left(200'000'000, kStart + seconds(2));
  EXPECT_THAT(seen(), ElementsAre("a line", "[##########..........] 50 %, 100 MB/s, 2 s left"));
  progress.finish(kStart + seconds(4));
  EXPECT_THAT(seen(), ElementsAre("a line", "Read 400 MB in 4.0 s, 100 MB/s.", ""));
}

TEST_F(ProgressTest, WithoutATerminalPlainLines) {
  {
    StatusStream stream(err_, {});
    Progress progress(stream, true);
    progress.found(1000, kStart);
    for (int i = 0; i < 20; ++i) {
      progress.show_left(static_cast<std::uint64_t>(1000 - i), kStart + milliseconds(100 * i));
    }
    progress.finish(kStart + seconds(2));
  }
  EXPECT_EQ(err_.str(),
            "[....................] 1 %, 10 B/s, 99 s left\n"
            "Read 1.0 kB in 2.0 s, 500 B/s.\n");
}

TEST_F(ProgressTest, NothingUnlessItIsWanted) {
  {
    StatusStream stream(err_, terminal_.style());
    Progress progress(stream, false);
    progress.found(1000, kStart);
    EXPECT_FALSE(progress.is_due(kStart + seconds(5)));
    progress.show_left(500, kStart + seconds(5));
    progress.finish(kStart + seconds(6));
    Progress empty(stream, true);
    empty.found(0, kStart);
    empty.finish(kStart);
  }
  EXPECT_EQ(err_.str(), "");
}

// Results and the bar on one terminal, by two streams.
TEST_F(ProgressTest, IsNotGluedToResults) {
  std::ostringstream both;
  StatusStream stream(both, terminal_.style());
  stream.show("the bar", kStart);
  stream.print(both, "{\"id\":1}\n");
  terminal_.write(both.str());
  EXPECT_THAT(terminal_.lines(), ElementsAre("{\"id\":1}", "the bar"));
}

}  // namespace trainwatch::progress_test
