// SPDX-License-Identifier: Apache-2.0
// Learns which bytes of which file are decoded before they are, so that a watcher knows what the
// process died of.
#pragma once

#include <cstdint>
#include <exception>
#include <string_view>

namespace trainwatch {

class DecodeWatch {
 public:
  virtual ~DecodeWatch() = default;
  // begins() and then one of the others, by one thread.
  virtual void begins(std::string_view path, std::uint64_t from, std::uint64_t to) = 0;
  virtual void ended() = 0;
  virtual void failed() = 0;  // by an exception, which nobody expected
};

// Reports one decode to a watcher: that it begins, and, when destroyed, that it ended or failed.
class WatchedDecode {
 public:
  // Null: nobody watches.
  WatchedDecode(DecodeWatch* watch, std::string_view path, std::uint64_t from, std::uint64_t to)
      : watch_(watch) {
    if (watch_ != nullptr) watch_->begins(path, from, to);
  }
  ~WatchedDecode() {
    if (watch_ == nullptr) return;
    if (std::uncaught_exceptions() > exceptions_) {
      watch_->failed();
    } else {
      watch_->ended();
    }
  }
  WatchedDecode(const WatchedDecode&) = delete;
  WatchedDecode& operator=(const WatchedDecode&) = delete;

 private:
  DecodeWatch* watch_;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace trainwatch
