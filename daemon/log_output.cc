// SPDX-License-Identifier: Apache-2.0
#include "daemon/log_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

namespace trainwatch {

// O_NONBLOCK belongs to the description, which standard error shares with other processes, so a
// pipe or terminal is opened once more. That may be refused (it was opened by another user); then
// every write asks first, and is no longer than what a pipe with room always takes.
LogOutput::LogOutput(int descriptor, std::size_t queue_bytes)
    : descriptor_(descriptor), limit_(queue_bytes) {
  struct stat file {};
  if (fstat(descriptor, &file) != 0) return;
  if (S_ISSOCK(file.st_mode)) how_ = How::socket;
  if (!S_ISFIFO(file.st_mode) && !S_ISCHR(file.st_mode)) return;
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  own_ = FileHandle(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (own_.valid()) {
    descriptor_ = own_.get();
  } else {
    how_ = How::waiting_file;
  }
}

long LogOutput::put(const char* bytes, std::size_t size) const {
  ssize_t taken = 0;
  do {
    if (how_ == How::socket) {
      taken = send(descriptor_, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    } else if (how_ == How::file) {
      taken = ::write(descriptor_, bytes, size);
    } else {
      pollfd room{descriptor_, POLLOUT, 0};
      if (poll(&room, 1, 0) == 0) return 0;
      taken = ::write(descriptor_, bytes, std::min<std::size_t>(size, PIPE_BUF));
    }
  } while (taken < 0 && errno == EINTR);
  if (taken < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
  return taken;
}

void LogOutput::write_bytes(std::string bytes) {
  flush();
  if (bytes.empty()) return;  // put() would report that nothing was taken
  if (queued_ + bytes.size() > limit_) {
    ++dropped_;
    return;
  }
  queued_ += bytes.size();
  queue_.push_back(std::move(bytes));
  flush();
}

void LogOutput::flush() {
  while (!queue_.empty()) {
    const std::string& line = queue_.front();
    const long taken = put(line.data() + begun_, line.size() - begun_);
    if (taken == 0) return;
    refused_ = taken < 0;
    if (refused_) ++dropped_;
    begun_ += static_cast<std::size_t>(std::max(taken, 0L));
    if (taken > 0 && begun_ < line.size()) continue;
    queued_ -= line.size();
    begun_ = 0;
    queue_.pop_front();
  }
}

}  // namespace trainwatch
