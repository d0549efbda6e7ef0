// SPDX-License-Identifier: Apache-2.0
// Looks host names up without blocking the thread that asks: the system's resolver may take half a
// minute, and cannot be interrupted.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "trainwatch/result.h"

namespace trainwatch {

// For the thread that runs `io`.
class HostResolver {
 public:
  using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;
  using Done = std::function<void(const Result<Endpoints>&)>;

  // Lookups at a time; a further one fails at once.
  static constexpr std::size_t kMost = 16;

  // `io` outlives it.
  explicit HostResolver(boost::asio::io_context& io) : io_(io) {}
  // Waits for the lookups that still run; see busy().
  ~HostResolver() = default;
  HostResolver(const HostResolver&) = delete;
  HostResolver& operator=(const HostResolver&) = delete;

  // `done` is called later, never within the call. Each name has one lookup at a time, with a
  // thread of its own, so that a name server which does not answer delays nobody else.
  void resolve(const std::string& host, const std::string& port, Done done);

  // A lookup runs. The process can exit without waiting for it, the destructor cannot.
  bool busy() const { return !lookups_.empty(); }

 private:
  struct Lookup {
    std::vector<Done> waiting;
    std::jthread thread;
  };

  void finished(const std::string& name, const Result<Endpoints>& found);

  boost::asio::io_context& io_;
  std::map<std::string, Lookup> lookups_;  // by "host port"
};

}  // namespace trainwatch
