// SPDX-License-Identifier: Apache-2.0
// Reads the web configuration file, and the certificates that it names, again whenever one of them
// changes: its content, or the file to which a name or a link leads. What would let in more than
// before must stay the same for a while first: a file that is being written is empty, or ends
// early. On a thread of its own, as they may lie on a network file system that hangs.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include "daemon/config/config.h"
#include "daemon/repeating_timer.h"

namespace trainwatch {

class AccessWatch {
 public:
  static constexpr std::chrono::milliseconds kInterval{500};
  static constexpr std::chrono::seconds kSettles{5};

  // What has been read, or why it cannot be used; the same reason is not reported twice.
  using Changed = std::function<void(Result<LoadedAccess>)>;

  // `loaded` is what is in use. `changed` is called on the net thread; `net` outlives this.
  AccessWatch(boost::asio::io_context& net, const WebConfig& web, const LoadedAccess& loaded,
              Changed changed);
  AccessWatch(const AccessWatch&) = delete;
  AccessWatch& operator=(const AccessWatch&) = delete;

  void request_stop();
  // False: a file call hangs, and only the process can end.
  bool wait_stopped(std::chrono::steady_clock::time_point deadline) const;

 private:
  void look();
  bool waits(const LoadedAccess& loaded);

  boost::asio::io_context& net_;
  WebConfig web_;
  Changed changed_;
  LoadedAccess used_;
  std::string open_digest_;  // of what would let in more
  std::chrono::steady_clock::time_point open_since_{};
  std::string stamp_;   // of its files when they were read
  std::string reason_;  // why they could not be used, if so
  boost::asio::io_context own_{1};
  RepeatingTimer timer_{own_};
  std::future<void> end_;
  std::jthread thread_;
};

// Every place that is looked at when `path` is opened: itself and, if it is a link or below one,
// where that leads.
std::vector<std::string> places_of(const std::string& path);

}  // namespace trainwatch
