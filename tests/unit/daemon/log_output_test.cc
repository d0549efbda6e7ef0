// SPDX-License-Identifier: Apache-2.0
#include "daemon/log_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>

#include "daemon/logging.h"
#include "support/temp_directory.h"

namespace trainwatch::log_output_test {

constexpr std::size_t kPipeBytes = 4096;

// A pipe that holds one page, or a socket.
class Channel {
 public:
  static Channel pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    EXPECT_EQ(fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes), static_cast<int>(kPipeBytes));
    return Channel(ends);
  }
  static Channel socket() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    return Channel(ends);
  }
  int writer() const { return writer_.get(); }
  // What can be read now.
  std::string read_all() const {
    std::string text;
    std::array<char, 65536> buffer{};
    EXPECT_EQ(fcntl(reader_.get(), F_SETFL, O_NONBLOCK), 0);
    while (true) {
      const ssize_t size = read(reader_.get(), buffer.data(), buffer.size());
      if (size <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }
  void close_reader() { FileHandle closed = std::move(reader_); }

 private:
  explicit Channel(const std::array<int, 2>& ends) : reader_(ends[0]), writer_(ends[1]) {}
  FileHandle reader_;
  FileHandle writer_;
};

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

// As of a state line that has not changed: what follows would wait for it for ever.
TEST(LogOutput, NothingIsNotQueued) {
  const Channel pipe = Channel::pipe();
  LogOutput output(pipe.writer());
  output.write_bytes("");
  EXPECT_TRUE(output.empty());
  output.write("a line");
  EXPECT_EQ(pipe.read_all(), "a line\n");
}

class LogOutputChannels : public testing::TestWithParam<Channel (*)()> {};

// Case 73, a full pipe: nothing waits, and what there was room for arrives once somebody reads.
TEST_P(LogOutputChannels, QueuesWhatIsNotReadAndDropsWhatDoesNotFit) {
  const Channel channel = GetParam()();
  LogOutput output(channel.writer(), 10'000);
  const std::string line(99, 'x');
  constexpr std::size_t kLines = 10'000;
  for (std::size_t i = 0; i < kLines; ++i) output.write(line);
  EXPECT_FALSE(output.empty());
  EXPECT_GT(output.dropped(), 0U);
  std::string text;
  while (!output.empty()) {
    text += channel.read_all();
    output.flush();
  }
  text += channel.read_all();
  EXPECT_EQ(lines_of(text) + output.dropped(), kLines);
  EXPECT_EQ(text.size(), 100 * lines_of(text));  // whole lines only
  EXPECT_EQ(fcntl(channel.writer(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_P(LogOutputChannels, WritesALineThatIsLongerThanThePipe) {
  const Channel channel = GetParam()();
  LogOutput output(channel.writer());
  output.write(std::string(3 * kPipeBytes, 'y'));
  output.write("end");
  std::string text;
  while (text.size() < 3 * kPipeBytes + 5) {
    text += channel.read_all();
    output.flush();
  }
  EXPECT_EQ(text, std::string(3 * kPipeBytes, 'y') + "\nend\n");
}

TEST_P(LogOutputChannels, SurvivesItsReader) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Channel channel = GetParam()();
  LogOutput output(channel.writer());
  channel.close_reader();
  output.write("nobody");
  output.write("is there");
  EXPECT_EQ(output.dropped(), 2U);
  EXPECT_TRUE(output.empty());
  EXPECT_TRUE(output.refused());
  std::signal(SIGPIPE, before);
}

// The pipe cannot be opened again where its reader is gone; then every write asks first.
INSTANTIATE_TEST_SUITE_P(All, LogOutputChannels, testing::Values(&Channel::pipe, &Channel::socket));

TEST(LogOutput, AppendsToAFile) {
  const test::TempDirectory directory;
  const FileHandle file(open((directory / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  LogOutput output(file.get());
  output.write("one");
  output.write("two");
  EXPECT_EQ(directory.read("log"), "one\ntwo\n");
}

TEST(LogOutput, CountsWhatADescriptorRefuses) {
  const FileHandle full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  LogOutput output(full.get());
  output.write("no room");
  EXPECT_EQ(output.dropped(), 1U);
}

TEST(Logger, SaysHowManyLinesNobodyRead) {
  const Channel channel = Channel::pipe();
  Logger log({}, channel.writer());
  const std::string value(60'000, 'v');
  for (int i = 0; i < 10; ++i) log.info("long", {{"value", value}});
  const std::uint64_t dropped = log.losses().unread;
  EXPECT_GT(dropped, 0U);
  std::string text;
  while (text.find("lines were dropped") == std::string::npos) {
    text += channel.read_all();
    log.flush();
  }
  EXPECT_NE(text.find("lines=" + std::to_string(dropped)), std::string::npos);
  log.flush();
  EXPECT_EQ(channel.read_all(), "");  // said once
}

TEST(Logger, IsQuietAboutLinesWhenNobodyIsThere) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Channel channel = Channel::pipe();
  Logger log({}, channel.writer());
  channel.close_reader();
  log.info("one");
  for (int i = 0; i < 5; ++i) log.flush();
  EXPECT_EQ(log.losses().unread, 1U);
  std::signal(SIGPIPE, before);
}

}  // namespace trainwatch::log_output_test
