// SPDX-License-Identifier: Apache-2.0
// Pipes of a job are asked for dumps: those that are read, once a stall.
#include "daemon/app/dump_request.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "support/temp_directory.h"

namespace trainwatch::dump_request_test {
namespace {

// As PyTorch's DumpPipe: made, and opened for reading without waiting.
class Pipe {
 public:
  explicit Pipe(const std::string& path) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0666), 0);
    read_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  }
  ~Pipe() { ::close(read_); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  std::size_t bytes() const {
    char buffer[128];
    const auto size = ::read(read_, buffer, sizeof buffer);
    return size < 0 ? 0 : static_cast<std::size_t>(size);
  }

 private:
  int read_ = -1;
};

TEST(DumpRequest, OneByteForEachPipeThatIsRead) {
  const test::TempDirectory folder;
  const std::string prefix = folder / "pipe_";
  const Pipe first(prefix + "0.pipe");
  const Pipe second(prefix + "12.pipe");
  const Pipe other(prefix + "x.pipe");
  const Pipe another(folder / "other_0.pipe");
  ASSERT_EQ(::mkfifo((prefix + "3.pipe").c_str(), 0666), 0);
  std::ofstream(prefix + "4.pipe") << "a file";
  ASSERT_EQ(::symlink((prefix + "0.pipe").c_str(), (prefix + "5.pipe").c_str()), 0);
  const DumpRequest request = request_dumps(prefix);
  EXPECT_EQ(request.asked, 2U);
  EXPECT_EQ(request.unread, 1U);
  EXPECT_EQ(request.failed, 0U) << request.error;
  EXPECT_EQ(first.bytes(), 1U);
  EXPECT_EQ(second.bytes(), 1U);
  EXPECT_EQ(other.bytes() + another.bytes(), 0U);
  std::string content;
  std::ifstream(prefix + "4.pipe") >> content;
  EXPECT_EQ(content, "a");
}

TEST(DumpRequest, AFullPipeIsNotWaitedFor) {
  const test::TempDirectory folder;
  const std::string path = folder / "0.pipe";
  const Pipe pipe(path);
  const int writer = ::open(path.c_str(), O_WRONLY | O_NONBLOCK);
  const std::string block(4096, 'x');
  while (::write(writer, block.data(), block.size()) > 0) continue;
  EXPECT_EQ(request_dumps(folder.path() + "/").asked, 1U);
  ::close(writer);
}

TEST(DumpRequest, AMissingDirectoryIsAnError) {
  const DumpRequest request = request_dumps("/nonexistent/pipe_");
  EXPECT_EQ(request.asked, 0U);
  EXPECT_NE(request.error, "");
}

TEST(DumpRequestPolicy, OnceAStallAndNotTooOften) {
  const auto at = [](int seconds) { return Time{std::chrono::seconds(seconds)}; };
  DumpRequestPolicy policy;
  EXPECT_FALSE(policy.is_due(false, at(0)));
  EXPECT_TRUE(policy.is_due(true, at(1)));
  EXPECT_FALSE(policy.is_due(true, at(2)));
  EXPECT_FALSE(policy.is_due(false, at(3)));
  EXPECT_FALSE(policy.is_due(true, at(500)));
  EXPECT_FALSE(policy.is_due(true, at(700)));
  EXPECT_FALSE(policy.is_due(false, at(701)));
  EXPECT_TRUE(policy.is_due(true, at(702)));
  DumpRequestPolicy restarted;
  EXPECT_FALSE(restarted.is_due(true, at(1)));
  EXPECT_FALSE(restarted.is_due(true, at(2)));
}

TEST(DumpRequestThread, Answers) {
  const test::TempDirectory folder;
  const Pipe pipe(folder / "0.pipe");
  DumpRequestThread thread(folder.path() + "/");
  thread.ask();
  std::optional<DumpRequest> result;
  while (!result) {
    result = thread.take_result();
    std::this_thread::yield();
  }
  EXPECT_EQ(result->asked, 1U);
  EXPECT_EQ(pipe.bytes(), 1U);
}

}  // namespace
}  // namespace trainwatch::dump_request_test
