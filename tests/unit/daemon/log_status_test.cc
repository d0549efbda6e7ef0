// SPDX-License-Identifier: Apache-2.0
// The log with a state line below it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "daemon/logging.h"
#include "pipeline/tail/file_handle.h"
#include "support/fake_terminal.h"

namespace trainwatch::log_status_test {

using testing::ElementsAre;
using testing::HasSubstr;

class LogStatusTest : public testing::Test {
 protected:
  LogStatusTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    reader_ = FileHandle(ends[0]);
    writer_ = FileHandle(ends[1]);
  }
  const std::vector<std::string>& seen() {
    std::array<char, 4096> bytes{};
    const ssize_t size = read(reader_.get(), bytes.data(), bytes.size());
    EXPECT_GT(size, 0);
    terminal_.write({bytes.data(), static_cast<std::size_t>(size)});
    return terminal_.lines();
  }
  FileHandle reader_;
  FileHandle writer_;
  FakeTerminal terminal_{100};
};

TEST_F(LogStatusTest, IsNeverGlued) {
  Logger log(LogConfig{}, writer_.get(), terminal_.style());
  log.show("Running: 4.2 steps/s.");
  EXPECT_THAT(seen(), ElementsAre("Running: 4.2 steps/s."));
  log.print("WARNING since 14:02 CET: x.\n");
  log.info("listening");
  EXPECT_THAT(seen(), ElementsAre("WARNING since 14:02 CET: x.", HasSubstr("msg=listening"),
                                  "Running: 4.2 steps/s."));
  log.clear();
  EXPECT_THAT(seen(), ElementsAre("WARNING since 14:02 CET: x.", HasSubstr("msg=listening"), ""));
}

TEST_F(LogStatusTest, WithoutATerminalThereIsNoLine) {
  Logger log(LogConfig{}, writer_.get());
  log.show("Running: 4.2 steps/s.");
  log.clear();
  log.info("listening");
  EXPECT_THAT(seen(), ElementsAre(HasSubstr("msg=listening"), ""));
}

}  // namespace trainwatch::log_status_test
