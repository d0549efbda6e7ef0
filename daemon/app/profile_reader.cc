#include "daemon/app/profile_reader.h"

#include <boost/asio/post.hpp>
#include <stop_token>
#include <utility>

#include "daemon/app/guarded_thread.h"
#include "pipeline/profile/profile_report.h"

namespace trainwatch {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Fails every call after a stop or a timeout, which soon ends any walk over files.
class LimitedFileSystem final : public FileSystem {
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
    return files_.open(path);
  }

  // The limit was reached, so what was read is incomplete.
  bool ended() {
    ended_ = ended_ || stop_.stop_requested() || SteadyClock::now() >= deadline_;
    return ended_;
  }

 private:
  static constexpr const char* kEnded = "not read in time";

  FileSystem& files_;
  std::stop_token stop_;
  SteadyClock::time_point deadline_;
  bool ended_ = false;
};

HttpResponse read_profiles(LimitedFileSystem files, const std::vector<std::string>& paths) {
  HttpResponse response;
  response.body = python_profile(files, find_profiles(files, paths), {}).json() + "\n";
  if (!files.ended()) return response;
  return error_response(503, "there are too many profiles to read in time; use trainwatch analyze");
}

}  // namespace

void ProfileReader::ask(std::vector<std::string> paths, Done done) {
  if (busy_ || stopped_) {
    boost::asio::post(net_, [done = std::move(done)] {
      done(error_response(503, "the profiles are being read for another request; try again"));
    });
    return;
  }
  busy_ = true;
  std::promise<void> ended;
  end_ = ended.get_future();
  const auto deadline = SteadyClock::now() + limit_;
  thread_ = std::jthread([this, paths = std::move(paths), done = std::move(done), deadline,
                          ended = std::move(ended)](const std::stop_token& stop) mutable {
    run_guarded("profile", [&] {
      HttpResponse response = read_profiles({files_, stop, deadline}, paths);
      boost::asio::post(net_,
                        [this, done = std::move(done), response = std::move(response)]() mutable {
                          busy_ = false;
                          done(std::move(response));
                        });
    });
    ended.set_value();
  });
}

void ProfileReader::request_stop() {
  stopped_ = true;
  thread_.request_stop();
}

bool ProfileReader::wait_stopped(SteadyClock::time_point deadline) const {
  return !end_.valid() || end_.wait_until(deadline) == std::future_status::ready;
}

}  // namespace trainwatch
