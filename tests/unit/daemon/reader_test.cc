// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>

#include "tests/support/patience.h"
#include "tests/support/temp_directory.h"

namespace trainwatch::test::reader_test {

// Counts what it receives, for another thread to wait for.
class CountingSink final : public TailSink {
 public:
  void opened(const KnownFile&, const std::string&, const std::vector<FileId>&) override {}
  void data(FileId, const AppendedBytes& appended) override {
    const std::lock_guard lock(mutex_);
    total_ += appended.bytes.size();
    changed_.notify_all();
  }
  void renamed(const KnownFile&) override {}
  void cut_back(FileId, std::uint64_t) override {}
  void restarted(FileId, std::uint64_t) override {}
  void finished(FileId) override {}
  void read_error(FileId, const std::string&) override {}
  void forgotten(FileId, bool) override {}
  void lane_forgotten(LaneId) override {}
  void checkpoint_written(const CheckpointFile&) override {}

  bool wait_for(std::uint64_t total) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return total_ == total; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t total_ = 0;
};

// Case 46: between the listing of a directory and its watch there is a moment in which a new file
// gives no event. Without polls, only looking once more finds it. The files are made at different
// moments behind their directories, which may lie in directories that are new as well, or take the
// place of another one.
TEST(Reader, AFileMadeWhileItsDirectoryIsBeingAddedNeedsNoPoll) {
  TempDirectory dir;
  CountingSink sink;
  ReaderOptions options;
  options.roots = {{dir.path(), "r"}};
  options.poll_interval = std::chrono::hours(1);
  options.limits.longest_gap = std::chrono::hours(2);
  Reader reader(std::move(options), sink, [](const TailReport&) {});
  for (int i = 0; i < 100; ++i) {
    const std::string path = "d" + std::to_string(i) + (i % 3 == 0 ? "/e/f" : "");
    if (i % 2 == 0) std::filesystem::remove_all(dir / ("d" + std::to_string(i - 1)));
    std::filesystem::create_directories(dir / path);
    const auto moment = std::chrono::steady_clock::now() + std::chrono::microseconds(20 * i);
    while (std::chrono::steady_clock::now() < moment) {
    }
    dir.append(path + "/a.json", "x");
    ASSERT_TRUE(sink.wait_for(static_cast<std::uint64_t>(i) + 1)) << path;
  }
  EXPECT_TRUE(reader.stop(kPatience));
}

// Files that nothing else would show before the next poll, an hour away, in directories that are
// new as well; and of what comes after the end nothing is read.
TEST(Reader, ReadsToTheEndAndNoFurther) {
  TempDirectory dir;
  CountingSink sink;
  ReaderOptions options;
  options.roots = {{dir.path(), "r"}};
  options.poll_interval = std::chrono::hours(1);
  options.limits.longest_gap = std::chrono::hours(2);
  options.limits.chunk_bytes = 1000;
  Reader reader(std::move(options), sink, [](const TailReport&) {});
  constexpr int kFiles = 30;
  constexpr std::size_t kBytes = 20'000;
  for (int i = 0; i < kFiles; ++i) {
    const std::string path = "d" + std::to_string(i) + "/e";
    std::filesystem::create_directories(dir / path);
    dir.append(path + "/a.json", std::string(kBytes, 'x'));
  }
  std::promise<void> end;
  reader.read_to_end([&] { end.set_value(); });
  ASSERT_EQ(end.get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(sink.wait_for(kFiles * kBytes));
  dir.append("d0/e/a.json", "x");
  EXPECT_TRUE(reader.stop(kPatience));
  EXPECT_TRUE(sink.wait_for(kFiles * kBytes));
  EXPECT_EQ(reader.call_duration(), std::chrono::steady_clock::duration{});
}

// Takes a millisecond for each chunk of the first file, and appends to another one at the start.
class SlowSink final : public TailSink {
 public:
  explicit SlowSink(std::function<void()> at_the_start) : at_the_start_(std::move(at_the_start)) {}

  void opened(const KnownFile& file, const std::string&, const std::vector<FileId>&) override {
    if (file.path.ends_with("b.json")) other_ = file.file;
  }
  void data(FileId file, const AppendedBytes& appended) override {
    if (file == other_) {
      other_at_ = chunks_;
      return;
    }
    if (chunks_++ == 0) at_the_start_();
    total_ += appended.bytes.size();
    const auto later = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
    while (std::chrono::steady_clock::now() < later) {
    }
  }
  void renamed(const KnownFile&) override {}
  void cut_back(FileId, std::uint64_t) override {}
  void restarted(FileId, std::uint64_t) override {}
  void finished(FileId) override {}
  void read_error(FileId, const std::string&) override {}
  void forgotten(FileId, bool) override {}
  void lane_forgotten(LaneId) override {}
  void checkpoint_written(const CheckpointFile&) override {}

  std::size_t chunks() const { return chunks_; }
  std::size_t other_at() const { return other_at_; }
  std::uint64_t total() const { return total_; }

 private:
  std::function<void()> at_the_start_;
  FileId other_{};
  std::size_t chunks_ = 0;
  std::size_t other_at_ = 0;  // chunks before the other file was read
  std::uint64_t total_ = 0;
};

// Case 36.
TEST(Reader, GrowthIsNoticedInTheMiddleOfALongFile) {
  constexpr std::size_t kBytes = 2'000'000;
  TempDirectory dir;
  dir.append("a.json", std::string(kBytes, 'x'));
  SlowSink sink([&] { dir.append("b.json", "x"); });
  ReaderOptions options;
  options.roots = {{dir.path(), "r"}};
  options.limits.chunk_bytes = 1000;
  std::promise<void> read;
  std::atomic<bool> done{false};
  Reader reader(std::move(options), sink, [&](const TailReport& report) {
    if (report.complete && !done.exchange(true)) read.set_value();
  });
  EXPECT_EQ(read.get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(reader.stop(kPatience));
  EXPECT_EQ(sink.total(), kBytes);
  EXPECT_GT(sink.other_at(), 0U);
  EXPECT_LT(sink.other_at(), sink.chunks() * 3 / 4);
}

}  // namespace trainwatch::test::reader_test
