#include "daemon/app/profile_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <future>
#include <optional>

namespace trainwatch::profile_reader_test {

using std::chrono::seconds;
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

class ProfileReaderTest : public testing::Test {
 protected:
  ProfileReader::Done to(std::optional<HttpResponse>& answer) {
    return [&answer](HttpResponse response) { answer = std::move(response); };
  }
  // Runs the net thread's handlers until there is an answer.
  void wait_for(const std::optional<HttpResponse>& answer) {
    const auto limit = steady_clock::now() + seconds(10);
    while (!answer && steady_clock::now() < limit) net_.run_one_for(seconds(1));
  }

  boost::asio::io_context net_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      net_.get_executor()};
  SlowFiles files_;
};

TEST_F(ProfileReaderTest, AnswersOneAtATime) {
  ProfileReader reader(net_, files_);
  std::optional<HttpResponse> first;
  std::optional<HttpResponse> second;
  reader.ask({"/job"}, to(first));
  EXPECT_FALSE(first);  // the caller goes on meanwhile
  files_.wait_until_listed();
  reader.ask({"/job"}, to(second));
  wait_for(second);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->status, 503);
  EXPECT_THAT(second->body, HasSubstr("for another request"));
  files_.let_go();
  wait_for(first);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->status, 200);
  EXPECT_THAT(first->body, HasSubstr(R"("rejected":[])"));
}

TEST_F(ProfileReaderTest, GivesUpWhatTakesTooLong) {
  ProfileReader reader(net_, files_, std::chrono::milliseconds(0));
  std::optional<HttpResponse> answer;
  reader.ask({"/job"}, to(answer));
  wait_for(answer);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_THAT(answer->body, HasSubstr("trainwatch analyze"));
  EXPECT_EQ(files_.lists(), 0);
}

TEST_F(ProfileReaderTest, StopsBetweenFileCallsAndSaysWhenOneHangs) {
  ProfileReader reader(net_, files_);
  EXPECT_TRUE(reader.wait_stopped(steady_clock::now()));  // there is nothing to wait for
  std::optional<HttpResponse> answer;
  reader.ask({"/job", "/another"}, to(answer));
  files_.wait_until_listed();
  reader.request_stop();
  EXPECT_FALSE(reader.wait_stopped(steady_clock::now()));
  files_.let_go();
  EXPECT_TRUE(reader.wait_stopped(steady_clock::now() + seconds(10)));
  wait_for(answer);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(files_.lists(), 1);  // not the second directory
  answer.reset();
  reader.ask({"/job"}, to(answer));
  wait_for(answer);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
}

}  // namespace trainwatch::profile_reader_test
