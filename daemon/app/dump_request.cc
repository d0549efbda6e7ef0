// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/dump_request.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "daemon/app/guarded_thread.h"

namespace trainwatch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPipes = 4096;
constexpr std::string_view kPipeSuffix = ".pipe";

// "<begins><rank>.pipe"
bool is_pipe_name(std::string_view name, std::string_view begins) {
  if (!name.starts_with(begins) || !name.ends_with(kPipeSuffix)) return false;
  if (name.size() <= begins.size() + kPipeSuffix.size()) return false;
  name.remove_prefix(begins.size());
  name.remove_suffix(kPipeSuffix.size());
  return name.find_first_not_of("0123456789") == std::string_view::npos;
}

// 0, or what went wrong. A pipe that is full has been asked.
int ask_through(const std::string& path) {
  const int pipe = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (pipe < 0) return errno;
  struct stat status {};
  const bool known = ::fstat(pipe, &status) == 0;
  int failure = known ? 0 : errno;
  if (known && !S_ISFIFO(status.st_mode)) failure = ENOTSUP;
  if (failure == 0 && ::write(pipe, "1", 1) != 1 && errno != EAGAIN) failure = errno;
  ::close(pipe);
  return failure;
}

void ask_one(const fs::directory_entry& file, DumpRequest& request) {
  // What is no pipe is not opened at all.
  std::error_code unknown;
  if (file.symlink_status(unknown).type() != fs::file_type::fifo) return;
  const int failure = ask_through(file.path().string());
  if (failure == 0) {
    ++request.asked;
  } else if (failure == ENXIO || failure == EPIPE) {
    ++request.unread;
  } else {
    ++request.failed;
    if (request.error.empty())
      request.error = file.path().string() + ": " + std::generic_category().message(failure);
  }
}

}  // namespace

DumpRequest request_dumps(const std::string& prefix) {
  DumpRequest request;
  const fs::path path(prefix);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string begins = path.filename().string();
  std::error_code failure;
  fs::directory_iterator file(folder, failure);
  for (; !failure && file != fs::directory_iterator(); file.increment(failure)) {
    if (request.asked + request.unread + request.failed == kMostPipes) break;
    if (is_pipe_name(file->path().filename().string(), begins)) ask_one(*file, request);
  }
  if (failure && request.error.empty()) request.error = folder.string() + ": " + failure.message();
  return request;
}

bool DumpRequestPolicy::is_due(bool stalled, Time now) {
  const bool opened = stalled && stalled_ && !*stalled_;
  stalled_ = stalled;
  if (!opened || (asked_ != kNoTime && now - asked_ < kLeastBetween)) return false;
  asked_ = now;
  return true;
}

DumpRequestThread::DumpRequestThread(std::string prefix)
    : prefix_(std::move(prefix)),
      work_(boost::asio::make_work_guard(context_)),
      thread_([this] { run_guarded("dumps", [this] { context_.run(); }); }) {}

DumpRequestThread::~DumpRequestThread() {
  context_.stop();
  thread_.join();
}

void DumpRequestThread::ask() {
  if (result_.valid()) return;
  auto answer = std::make_shared<std::promise<DumpRequest>>();
  result_ = answer->get_future();
  boost::asio::post(context_, [this, answer] { answer->set_value(request_dumps(prefix_)); });
}

std::optional<DumpRequest> DumpRequestThread::take_result() {
  if (!result_.valid() || result_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    return std::nullopt;
  }
  return result_.get();
}

}  // namespace trainwatch
