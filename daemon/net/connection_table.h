// SPDX-License-Identifier: Apache-2.0
// Who may connect and ask, and who gives way when places are short. No sockets.
//
// Connections without a complete request and those with one are counted apart: a quarter of the
// places is left for the former, where the oldest gives way to a new one: those that have been
// answered for the last time before those that never asked, and these before those between two
// requests, unless they have less than that quarter. So what a new client wants is always heard. If
// too many requests are in work, a response that its client does not read gives way; and what
// loopback asks to watch trainwatch itself is always served.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "daemon/net/client_limits.h"

namespace trainwatch {

// Where a client comes from.
struct ClientAddress {
  std::string group;  // counted together: an IPv4 address, or an IPv6 network of 64 bits
  bool loopback = false;
};

class ConnectionTable {
 public:
  using Clock = std::chrono::steady_clock;
  using Id = std::uint64_t;

  enum class Phase : std::uint8_t {
    fresh,      // no complete request yet
    idle,       // between requests
    answering,  // the response is being sent
    waiting,    // for the engine thread; never gives way
    login,      // the password is being checked
    closing,    // the last response is sent
    count_
  };

  struct Admission {
    std::optional<Id> id;           // none: refused, because of `limit`
    std::optional<Id> gives_way{};  // is to be closed, and has left the table
    Limit limit = Limit::connections;
  };
  struct Start {
    bool allowed;
    std::optional<Id> gives_way{};  // as above
  };

  // A response that takes longer than this gives way.
  static constexpr std::chrono::milliseconds kSlow{1000};

  explicit ConnectionTable(const HttpLimits& limits) : limits_(limits) {}

  // A new connection, in Phase::fresh.
  Admission admit(const ClientAddress& from, Clock::time_point now);
  // The request of `id` is complete; if it may be served, the connection is in Phase::answering.
  // `vital`: loopback watches trainwatch.
  Start start(Id id, bool vital, Clock::time_point now);
  void enter(Id id, Phase phase, Clock::time_point now);
  void remove(Id id);

  // A WebSocket takes no place, but counts for its address.
  void count(const ClientAddress& from);
  void forget(const ClientAddress& from);

  // The response that has been sent for longest, which is to be closed and has left the table; none
  // if it is not slow, unless `however_quick`. `but` stays.
  std::optional<Id> drop_reader(bool however_quick, Id but, Clock::time_point now);

  std::size_t open() const { return entries_.size(); }
  std::size_t in(Phase phase) const { return phases_[static_cast<std::size_t>(phase)].size(); }

 private:
  struct Entry {
    ClientAddress from;
    Phase phase;
    Clock::time_point since;        // in this phase
    std::list<Id>::iterator place;  // in the list of its phase
  };

  std::list<Id>& list_of(Phase phase) { return phases_[static_cast<std::size_t>(phase)]; }
  std::size_t quarter() const { return std::max<std::size_t>(1, limits_.connections / 4); }
  std::optional<Id> take_oldest(Phase phase);

  HttpLimits limits_;
  Id last_ = 0;
  std::unordered_map<Id, Entry> entries_;
  std::array<std::list<Id>, static_cast<std::size_t>(Phase::count_)> phases_;  // oldest first
  std::map<std::string, std::size_t> of_address_;                              // without loopback
};

}  // namespace trainwatch
