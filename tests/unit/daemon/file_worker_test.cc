// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <future>
#include <optional>

#include "daemon/app/analysis_source.h"
#include "tests/support/patience.h"

namespace trainwatch::file_worker_test {

using std::chrono::steady_clock;
using testing::HasSubstr;

// A directory without files whose listing takes until it is let go.
class SlowFiles final : public FileSystem {
 public:
  Result<std::vector<DirectoryEntry>> list(const std::string&) override {
    ++lists_;
    listed_.set_value();
    let_go_.get_future().wait();
    return std::vector<DirectoryEntry>{};
  }
  Result<FileStat> stat(const std::string&) override { return Error{"no file"}; }
  Result<std::unique_ptr<OpenFile>> open(const std::string&) override { return Error{"no file"}; }

  void wait_until_listed() { listed_.get_future().wait(); }
  void let_go() { let_go_.set_value(); }
  int lists() const { return lists_; }

 private:
  std::atomic<int> lists_{0};
  std::promise<void> listed_;
  std::promise<void> let_go_;
};

class FileWorkerTest : public testing::Test {
 protected:
  // Lists all of them.
  static FileWorker::Work work(std::vector<std::string> directories) {
    return [directories = std::move(directories)](FileSystem& files) {
      for (const std::string& directory : directories) static_cast<void>(files.list(directory));
      return HttpResponse{.body = "listed", .headers = {}};
    };
  }
  static FileWorker::Options options() {
    FileWorker::Options options;
    options.limit = kPatience;
    options.busy = "busy";
    options.too_slow = "too slow";
    return options;
  }
  FileWorker::Done to(std::optional<HttpResponse>& answer) {
    return [&answer](HttpResponse response) { answer = std::move(response); };
  }
  // Runs the net thread's handlers until there is an answer.
  void wait_for(const std::optional<HttpResponse>& answer) {
    const auto limit = steady_clock::now() + kPatience;
    while (!answer && steady_clock::now() < limit) net_.run_one_until(limit);
  }

  boost::asio::io_context net_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      net_.get_executor()};
  SlowFiles files_;
};

TEST_F(FileWorkerTest, AnswersOneAtATime) {
  FileWorker worker(net_, files_, options());
  std::optional<HttpResponse> first;
  std::optional<HttpResponse> second;
  worker.ask(work({"/job"}), to(first));
  EXPECT_FALSE(first);  // the caller goes on meanwhile
  files_.wait_until_listed();
  worker.ask(work({"/job"}), to(second));
  wait_for(second);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->status, 503);
  EXPECT_THAT(second->body, HasSubstr("busy"));
  files_.let_go();
  wait_for(first);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->status, 200);
  EXPECT_THAT(first->body, HasSubstr("listed"));
}

TEST_F(FileWorkerTest, WhatMayWaitIsAnsweredNext) {
  FileWorker::Options patient = options();
  patient.queue = 1;
  FileWorker worker(net_, files_, patient);
  std::optional<HttpResponse> first;
  std::optional<HttpResponse> second;
  std::optional<HttpResponse> third;
  worker.ask(work({"/job"}), to(first));
  worker.ask(work({}), to(second));
  worker.ask(work({}), to(third));
  wait_for(third);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->status, 503);
  files_.let_go();
  wait_for(second);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->status, 200);
  EXPECT_TRUE(first) << "one after another";
}

TEST_F(FileWorkerTest, GivesUpWhatTakesTooLong) {
  FileWorker::Options hurried = options();
  hurried.limit = std::chrono::milliseconds(0);
  FileWorker worker(net_, files_, hurried);
  std::optional<HttpResponse> answer;
  worker.ask(work({"/job"}), to(answer));
  wait_for(answer);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_THAT(answer->body, HasSubstr("too slow"));
  EXPECT_EQ(files_.lists(), 0);
}

TEST_F(FileWorkerTest, StopsBetweenFileCallsAndSaysWhenOneHangs) {
  FileWorker worker(net_, files_, options());
  EXPECT_TRUE(worker.wait_stopped(steady_clock::now()));  // there is nothing to wait for
  std::optional<HttpResponse> answer;
  worker.ask(work({"/job", "/another"}), to(answer));
  files_.wait_until_listed();
  worker.request_stop();
  EXPECT_FALSE(worker.wait_stopped(steady_clock::now()));
  files_.let_go();
  EXPECT_TRUE(worker.wait_stopped(steady_clock::now() + kPatience));
  wait_for(answer);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(files_.lists(), 1);  // not the second directory
  answer.reset();
  worker.ask(work({"/job"}), to(answer));
  wait_for(answer);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
}

}  // namespace trainwatch::file_worker_test
