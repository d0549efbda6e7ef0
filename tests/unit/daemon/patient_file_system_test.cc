// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/patient_file_system.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tests/support/model_file_system.h"
#include "tests/support/patience.h"

namespace trainwatch::test::patient_file_system_test {

constexpr std::chrono::milliseconds kShort{100};

// Where calls can be made to hang, and to go on.
class Gate {
 public:
  void close() { set(true); }
  void open() { set(false); }
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !closed_; });
    ++passed_;
    changed_.notify_all();
  }
  void wait_for(int passed) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return passed_ >= passed; });
  }

 private:
  void set(bool closed) {
    const std::lock_guard lock(mutex_);
    closed_ = closed;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  int passed_ = 0;
};

class GatedFile final : public OpenFile {
 public:
  GatedFile(std::shared_ptr<Gate> gate, std::unique_ptr<OpenFile> file)
      : gate_(std::move(gate)), file_(std::move(file)) {}
  Result<FileStat> stat() override { return file_->stat(); }
  Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) override {
    gate_->pass();
    return file_->read(offset, buffer);
  }

 private:
  std::shared_ptr<Gate> gate_;
  std::unique_ptr<OpenFile> file_;
};

class GatedFileSystem final : public FileSystem {
 public:
  explicit GatedFileSystem(std::shared_ptr<Gate> gate) : gate_(std::move(gate)) {
    files_.create("/far/a.json", "far");
    files_.create("/near/a.json", "near");
  }
  Result<std::vector<DirectoryEntry>> list(const std::string& directory) override {
    if (directory.starts_with("/far")) gate_->pass();
    return files_.list(directory);
  }
  Result<FileStat> stat(const std::string& path) override { return files_.stat(path); }
  Result<std::unique_ptr<OpenFile>> open(const std::string& path) override {
    auto file = files_.open(path);
    if (!file) return file;
    return std::unique_ptr<OpenFile>(std::make_unique<GatedFile>(gate_, std::move(*file)));
  }

 private:
  std::shared_ptr<Gate> gate_;
  ModelFileSystem files_;
};

class PatientFileSystemTest : public testing::Test {
 protected:
  ~PatientFileSystemTest() override { gate_->open(); }

  std::string content(OpenFile& file) {
    char bytes[16];
    const auto size = file.read(0, bytes);
    return size ? std::string(bytes, *size) : size.error().message;
  }

  PatientFileSystem with_patience(std::chrono::milliseconds patience) {
    return {{{"/far", "far"}, {"/near", "near"}},
            [this] { return std::make_unique<GatedFileSystem>(gate_); },
            [](const WatchRoot& root) { return root.path == "/far"; },
            patience};
  }
  // A machine that is busy may hang for longer than a short patience.
  std::unique_ptr<OpenFile> opened(PatientFileSystem& files, const std::string& path) {
    std::unique_ptr<OpenFile> file;
    EXPECT_TRUE(becomes([&] {
      auto found = files.open(path);
      if (found) file = std::move(*found);
      return file != nullptr;
    }));
    return file;
  }

  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
};

TEST_F(PatientFileSystemTest, GivesWhatTheFileSystemGives) {
  PatientFileSystem files = with_patience(kPatience);
  for (const std::string root : {"/far", "/near"}) {
    EXPECT_EQ(files.list(root)->size(), 1U);
    EXPECT_EQ(files.stat(root + "/a.json")->size, root.size() - 1);
    const auto file = files.open(root + "/a.json");
    ASSERT_TRUE(file);
    EXPECT_EQ((*file)->stat()->size, root.size() - 1);
    EXPECT_EQ(content(**file), root.substr(1));
    EXPECT_FALSE(files.open(root + "/none.json"));
    EXPECT_TRUE(files.answers(root));
  }
  EXPECT_EQ(files.silence().count(), 0);
}

// Case 50: a call that does not return is given up, and one root does not answer until it does.
TEST_F(PatientFileSystemTest, AListingThatHangsIsGivenUp) {
  PatientFileSystem files = with_patience(kShort);
  gate_->close();
  EXPECT_FALSE(files.list("/far"));
  EXPECT_FALSE(files.answers("/far"));
  EXPECT_GE(files.silence(), kShort);
  for (int i = 0; i < 10'000; ++i) ASSERT_FALSE(files.stat("/far/a.json")) << "fails at once";
  EXPECT_TRUE(files.answers("/near"));
  EXPECT_TRUE(files.list("/near"));
  gate_->open();
  EXPECT_TRUE(becomes([&] { return bool(files.stat("/far/a.json")); }));
  EXPECT_TRUE(files.answers("/far"));
  EXPECT_EQ(files.silence().count(), 0);
}

TEST_F(PatientFileSystemTest, AReadThatHangsNeverWritesToTheBufferOfItsCaller) {
  PatientFileSystem files = with_patience(kShort);
  auto file = opened(files, "/far/a.json");
  ASSERT_TRUE(file);
  gate_->close();
  char bytes[4] = "---";
  EXPECT_FALSE(file->read(0, bytes));
  file.reset();  // it is closed when its read has returned
  gate_->open();
  gate_->wait_for(1);
  while (!files.answers("/far")) std::this_thread::yield();
  EXPECT_STREQ(bytes, "---");
}

TEST_F(PatientFileSystemTest, AnotherThreadSeesHowLongACallTakes) {
  PatientFileSystem files = with_patience(kPatience);
  EXPECT_EQ(files.call_duration().count(), 0);
  for (const std::string path : {"/far/a.json", "/near/a.json"}) {
    auto file = files.open(path);
    ASSERT_TRUE(file);
    gate_->close();
    std::thread reader([&] { content(**file); });
    while (files.call_duration() < std::chrono::milliseconds(20)) std::this_thread::yield();
    gate_->open();
    reader.join();
    EXPECT_EQ(files.call_duration().count(), 0);
  }
}

// Who stops does not wait for it either.
TEST(PatientFileSystem, ACallThatHangsMayOutliveIt) {
  auto gate = std::make_shared<Gate>();
  {
    PatientFileSystem files(
        {{"/far", "far"}}, [gate] { return std::make_unique<GatedFileSystem>(gate); },
        [](const WatchRoot&) { return true; }, kShort);
    gate->close();
    EXPECT_FALSE(files.list("/far"));
  }
  gate->open();
  gate->wait_for(1);
}

}  // namespace trainwatch::test::patient_file_system_test
