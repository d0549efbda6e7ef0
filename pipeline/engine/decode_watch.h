// SPDX-License-Identifier: Apache-2.0
// Hears which bytes of which file are decoded, before they are: whoever watches knows what the
// process has died of.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainwatch {

class DecodeWatch {
 public:
  virtual ~DecodeWatch() = default;
  // Calls are in pairs, by one thread.
  virtual void begins(std::string_view path, std::uint64_t from, std::uint64_t to) = 0;
  virtual void ended() = 0;
};

// Decoding goes on as long as this lives.
class WatchedDecode {
 public:
  // Null: nobody watches.
  WatchedDecode(DecodeWatch* watch, std::string_view path, std::uint64_t from, std::uint64_t to)
      : watch_(watch) {
    if (watch_ != nullptr) watch_->begins(path, from, to);
  }
  ~WatchedDecode() {
    if (watch_ != nullptr) watch_->ended();
  }
  WatchedDecode(const WatchedDecode&) = delete;
  WatchedDecode& operator=(const WatchedDecode&) = delete;

 private:
  DecodeWatch* watch_;
};

}  // namespace trainwatch
