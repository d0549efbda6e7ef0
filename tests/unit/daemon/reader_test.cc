#include "daemon/app/reader.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "tests/support/temp_directory.h"

namespace trainwatch::test::reader_test {

// Counts what it receives, for another thread to wait for.
class CountingSink final : public TailSink {
 public:
  void opened(const KnownFile&, const std::string&, const std::vector<FileId>&) override {}
  void data(FileId, std::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    total_ += bytes.size();
    changed_.notify_all();
  }
  void renamed(const KnownFile&) override {}
  void cut_back(FileId, std::uint64_t) override {}
  void restarted(FileId, std::uint64_t) override {}
  void finished(FileId) override {}
  void read_error(FileId, const std::string&) override {}
  void forgotten(FileId, bool) override {}
  void checkpoint_written(const CheckpointFile&) override {}

  bool wait_for(std::uint64_t total) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return total_ == total; });
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
  EXPECT_TRUE(reader.stop(std::chrono::seconds(20)));
}

}  // namespace trainwatch::test::reader_test
