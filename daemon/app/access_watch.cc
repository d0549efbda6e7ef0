// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/access_watch.h"

#include <sys/stat.h>

#include <boost/asio/post.hpp>
#include <filesystem>
#include <utility>

#include "daemon/app/guarded_thread.h"

namespace trainwatch {
namespace {

// Of the files as they are now: another one if any of them was written or replaced.
std::string stamp_of(const std::vector<std::string>& files) {
  std::string stamp;
  for (const std::string& path : files) {
    struct stat file {};
    if (::stat(path.c_str(), &file) != 0) file = {};
    for (const auto number : {static_cast<long>(file.st_dev), static_cast<long>(file.st_ino),
                              static_cast<long>(file.st_size), file.st_mtim.tv_sec,
                              file.st_mtim.tv_nsec, file.st_ctim.tv_sec, file.st_ctim.tv_nsec}) {
      stamp.append(std::to_string(number)).append(" ");
    }
  }
  return stamp;
}

// Whether `now` asks for less than `before`.
bool lets_in_more(const Access& before, const Access& now) {
  const bool no_login = before.needs_login() && !now.needs_login();
  const bool no_tls = before.tls != nullptr && now.tls == nullptr;
  return no_login || no_tls;
}

}  // namespace

AccessWatch::AccessWatch(boost::asio::io_context& net, const WebConfig& web,
                         const LoadedAccess& loaded, Changed changed)
    : net_(net), web_(web), changed_(std::move(changed)), used_(loaded) {
  std::promise<void> ended;
  end_ = ended.get_future();
  timer_.start(kInterval, [this] { look(); });
  thread_ = std::jthread([this, ended = std::move(ended)]() mutable {
    run_guarded("access", [this] { own_.run(); });
    ended.set_value();
  });
}

// The stamp is taken first: what is written during the reading is another one the next time. What
// cannot be used is tried again each time, as the next file may be on its way.
void AccessWatch::look() {
  std::string stamp = stamp_of(used_.files);
  if (stamp == stamp_ && reason_.empty()) return;
  stamp_ = std::move(stamp);
  auto loaded = load_access(web_);
  if (loaded && waits(*loaded)) return stamp_.clear();
  const std::string reason = loaded ? std::string() : loaded.error().message;
  const bool mended = loaded && !reason_.empty();
  if (loaded && loaded->files != used_.files) stamp_.clear();  // look at them once more
  const bool news = loaded ? mended || loaded->digest != used_.digest : reason != reason_;
  reason_ = reason;
  if (loaded) used_ = *loaded;
  if (!news) return;
  boost::asio::post(net_,
                    [this, loaded = std::move(loaded)]() mutable { changed_(std::move(loaded)); });
}

bool AccessWatch::waits(const LoadedAccess& loaded) {
  if (!lets_in_more(*used_.access, *loaded.access)) {
    open_digest_.clear();
    return false;
  }
  const auto now = std::chrono::steady_clock::now();
  if (std::exchange(open_digest_, loaded.digest) != loaded.digest) open_since_ = now;
  return now - open_since_ < kSettles;
}

void AccessWatch::request_stop() {
  own_.stop();
}

bool AccessWatch::wait_stopped(std::chrono::steady_clock::time_point deadline) const {
  return end_.wait_until(deadline) == std::future_status::ready;
}

std::vector<std::string> places_of(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 16;
  std::vector<std::string> places;
  std::error_code error;
  fs::path at = fs::absolute(path, error).lexically_normal();
  for (int links = 0; links < kMostLinks; ++links) {
    places.push_back(at.string());
    const fs::path target = fs::read_symlink(at, error);
    if (error) break;
    at = (target.is_absolute() ? target : at.parent_path() / target).lexically_normal();
  }
  places.push_back(fs::weakly_canonical(path, error).string());
  return places;
}

}  // namespace trainwatch
