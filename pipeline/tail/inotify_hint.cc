// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/inotify_hint.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "pipeline/tail/paths.h"
#include "pipeline/tail/posix_file_system.h"

namespace trainwatch {
namespace {

constexpr std::uint32_t kContent = IN_MODIFY;
constexpr std::uint32_t kNames =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;

bool on_network(const std::string& directory) {
  struct statfs found {};
  if (::statfs(directory.c_str(), &found) != 0) return false;
  return !network_file_system(found.f_type).empty();
}

}  // namespace

InotifyHint::InotifyHint() : wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (wake_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  inotify_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

InotifyHint::~InotifyHint() {
  if (inotify_ >= 0) ::close(inotify_);
  ::close(wake_);
}

bool InotifyHint::add(const std::string& directory) {
  if (inotify_ < 0 || watches_.contains(directory)) return false;
  const int watch = ::inotify_add_watch(inotify_, directory.c_str(),
                                        kContent | kNames | IN_ONLYDIR | IN_DONT_FOLLOW);
  if (watch < 0) {
    if (errno == ENOSPC || errno == ENOMEM) {
      unwatched_.insert(directory);
    } else {
      unwatched_.erase(directory);  // it is gone, or not ours to watch
    }
    return false;
  }
  unwatched_.erase(directory);
  // Two names of one directory share a watch, which keeps the later name.
  const auto known = directories_.find(watch);
  const bool is_new = known == directories_.end();
  if (!is_new) watches_.erase(known->second);
  watches_[directory] = watch;
  directories_[watch] = directory;
  network_ = network_ || on_network(directory);
  return is_new;
}

InotifyHint::Wake InotifyHint::wait(std::chrono::milliseconds timeout) {
  constexpr std::int64_t kLongest = std::numeric_limits<int>::max();
  std::array<pollfd, 2> ready{{{wake_, POLLIN, 0}, {inotify_, POLLIN, 0}}};
  const auto patience = std::clamp<std::int64_t>(timeout.count(), 0, kLongest);
  const int n = ::poll(ready.data(), ready.size(), static_cast<int>(patience));
  if (n <= 0) return Wake::timeout;  // also after a signal: the caller scans and comes back
  Wake result = Wake::timeout;
  if (ready[0].revents != 0) {
    std::uint64_t times = 0;
    if (::read(wake_, &times, sizeof times) > 0) result = Wake::woken;
  }
  return ready[1].revents != 0 ? std::max(result, take_events()) : result;
}

InotifyHint::Wake InotifyHint::take_events() {
  constexpr std::size_t kLongestEvent = sizeof(inotify_event) + NAME_MAX + 1;
  Wake result = Wake::timeout;
  // A read that had room for one more event has taken all.
  for (std::size_t room = 0; room < kLongestEvent;) {
    const ssize_t size = ::read(inotify_, events_.data(), events_.size());
    if (size <= 0) break;
    room = events_.size() - static_cast<std::size_t>(size);
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      inotify_event event;  // a copy; the name follows it, padded with NULs
      std::memcpy(&event, events_.data() + at, sizeof event);
      if (event.len > 0) note_change(event.wd, events_.data() + at + sizeof event);
      lost_ = lost_ || (event.mask & IN_Q_OVERFLOW) != 0;
      at += sizeof event + event.len;
      const bool content = (event.mask & kContent) != 0;
      result = std::max(result, content ? Wake::files_changed : Wake::directories_changed);
      // After a move, the path belongs to another directory or to none.
      if ((event.mask & IN_MOVE_SELF) != 0) ::inotify_rm_watch(inotify_, event.wd);
      if ((event.mask & (IN_IGNORED | IN_MOVE_SELF)) != 0) forget(event.wd);
    }
  }
  return result;
}

void InotifyHint::note_change(int watch, std::string_view name) {
  constexpr std::size_t kMost = 4096;
  const auto directory = directories_.find(watch);
  if (lost_ || directory == directories_.end()) return;
  lost_ = changed_.size() >= kMost;
  if (lost_) return changed_.clear();
  changed_.insert(join(directory->second, name));
}

std::optional<std::vector<std::string>> InotifyHint::take_changed() {
  std::vector<std::string> paths(changed_.begin(), changed_.end());
  changed_.clear();
  if (std::exchange(lost_, false)) return std::nullopt;
  return paths;
}

void InotifyHint::forget(int watch) {
  const auto known = directories_.find(watch);
  if (known == directories_.end()) return;
  watches_.erase(known->second);
  directories_.erase(known);
}

void InotifyHint::wake() {
  const std::uint64_t once = 1;
  // It fails only if the counter is full, and then the waiter wakes anyway.
  [[maybe_unused]] const ssize_t written = ::write(wake_, &once, sizeof once);
}

std::string_view InotifyHint::degraded() const {
  if (inotify_ < 0) return "unavailable";
  if (!unwatched_.empty()) return "watch_limit";
  return network_ ? "network_fs" : "";
}

}  // namespace trainwatch
