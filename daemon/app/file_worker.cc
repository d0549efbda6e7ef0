// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/file_worker.h"

#include <boost/asio/post.hpp>
#include <stop_token>
#include <utility>

#include "daemon/app/guarded_thread.h"

namespace trainwatch {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Work that walks over files ends soon once every call fails.
class LimitedFileSystem final : public RequestFiles {
 public:
  LimitedFileSystem(FileSystem& files, std::stop_token stop, SteadyClock::time_point deadline)
      : files_(files), stop_(std::move(stop)), deadline_(deadline) {}

  Result<std::vector<DirectoryEntry>> list(const std::string& directory) override {
    if (ended()) return Error{kEnded};
    return files_.list(directory);
  }
  Result<FileStat> stat(const std::string& path) override {
    if (ended()) return Error{kEnded};
    return files_.stat(path);
  }
  Result<std::unique_ptr<OpenFile>> open(const std::string& path) override {
    if (ended()) return Error{kEnded};
    auto open = files_.open(path);
    if (!open) return open.error();
    return std::unique_ptr<OpenFile>(std::make_unique<LimitedFile>(*this, std::move(*open)));
  }

  bool ended() override {
    ended_ = ended_ || stop_.stop_requested() || SteadyClock::now() >= deadline_;
    return ended_;
  }

 private:
  class LimitedFile final : public OpenFile {
   public:
    LimitedFile(LimitedFileSystem& limit, std::unique_ptr<OpenFile> file)
        : limit_(limit), file_(std::move(file)) {}
    Result<FileStat> stat() override { return file_->stat(); }
    Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) override {
      if (limit_.ended()) return Error{kEnded};
      return file_->read(offset, buffer);
    }

   private:
    LimitedFileSystem& limit_;
    std::unique_ptr<OpenFile> file_;
  };

  static constexpr const char* kEnded = "not read in time";

  FileSystem& files_;
  std::stop_token stop_;
  SteadyClock::time_point deadline_;
  bool ended_ = false;
};

}  // namespace

void FileWorker::ask(Work work, Done done) {
  if (stopped_ || (busy_ && waiting_.size() >= options_.queue)) {
    boost::asio::post(net_,
                      [this, done = std::move(done)] { done(error_response(503, options_.busy)); });
    return;
  }
  if (busy_) return waiting_.push_back({std::move(work), std::move(done)});
  start({std::move(work), std::move(done)});
}

void FileWorker::start(Request request) {
  busy_ = true;
  std::promise<void> ended;
  end_ = ended.get_future();
  const auto deadline = SteadyClock::now() + options_.limit;
  thread_ = std::jthread([this, request = std::move(request), deadline,
                          ended = std::move(ended)](const std::stop_token& stop) mutable {
    run_guarded("files", [&] {
      LimitedFileSystem files(files_, stop, deadline);
      HttpResponse response = request.work(files);
      if (files.ended()) response = error_response(503, options_.too_slow);
      boost::asio::post(
          net_, [this, done = std::move(request.done), response = std::move(response)]() mutable {
            this->ended();
            done(std::move(response));
          });
    });
    ended.set_value();
  });
}

void FileWorker::ended() {
  busy_ = false;
  if (waiting_.empty()) return;
  Request next = std::move(waiting_.front());
  waiting_.pop_front();
  start(std::move(next));
}

void FileWorker::request_stop() {
  stopped_ = true;
  waiting_.clear();
  thread_.request_stop();
}

bool FileWorker::wait_stopped(SteadyClock::time_point deadline) const {
  return !end_.valid() || end_.wait_until(deadline) == std::future_status::ready;
}

}  // namespace trainwatch
