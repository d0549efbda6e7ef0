// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "daemon/logging.h"

namespace trainwatch::config_logging_test {

const Time kNow = time_from_ns(1'795'236'015'981'368'000);

TEST(LogLine, IsLogfmt) {
  EXPECT_EQ(
      format_log_line(LogFormat::logfmt, false, kNow, LogLevel::warn, "file was truncated",
                      {{"path", "/a/b.json"}, {"lost", "12"}, {"why", "x = \"y\""}, {"e", ""}}),
      "ts=2026-11-21T04:40:15.981368Z level=warn msg=\"file was truncated\" path=/a/b.json "
      "lost=12 why=\"x = \\\"y\\\"\" e=\"\"");
}

TEST(LogLine, IsJson) {
  EXPECT_EQ(
      format_log_line(LogFormat::json, false, kNow, LogLevel::error, "no\nroom", {{"n", "1"}}),
      R"({"ts":"2026-11-21T04:40:15.981368Z","level":"error","msg":"no\nroom","n":"1"})");
}

TEST(LogLine, CarriesThePriorityForTheJournal) {
  EXPECT_EQ(format_log_line(LogFormat::logfmt, true, kNoTime, LogLevel::info, "ready", {}),
            "<6>level=info msg=ready");
  EXPECT_EQ(format_log_line(LogFormat::json, true, kNoTime, LogLevel::debug, "ready", {}),
            R"(<7>{"level":"debug","msg":"ready"})");
}

TEST(LogLine, NeverHoldsALineBreakOfItsContent) {
  const std::string line = format_log_line(LogFormat::logfmt, false, kNow, LogLevel::info,
                                           "a\nlevel=error", {{"k", "\n"}});
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(Logger, DropsWhatIsBelowItsLevelUntilReconfigured) {
  testing::internal::CaptureStderr();
  Logger log({LogLevel::warn, LogFormat::logfmt});
  log.info("quiet");
  log.configure({LogLevel::info, LogFormat::json});
  log.info("loud");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("quiet"), std::string::npos);
  EXPECT_NE(text.find(R"("level":"info","msg":"loud"})"), std::string::npos);
}

TEST(Journal, IsRecognisedByDeviceAndInode) {
  struct stat file {};
  ASSERT_EQ(fstat(STDERR_FILENO, &file), 0);
  const std::string own = std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino);
  setenv("JOURNAL_STREAM", own.c_str(), 1);
  EXPECT_TRUE(stderr_is_journal());
  setenv("JOURNAL_STREAM", "1:2", 1);
  EXPECT_FALSE(stderr_is_journal());
  unsetenv("JOURNAL_STREAM");
  EXPECT_FALSE(stderr_is_journal());
}

}  // namespace trainwatch::config_logging_test
