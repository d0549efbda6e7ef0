// SPDX-License-Identifier: Apache-2.0
// The live WebSocket sessions, in no particular order. Net thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace trainwatch {

class WsSession;

class SessionList {
 public:
  std::size_t size() const { return sessions_.size(); }
  void clear() { sessions_.clear(); }

  void add(std::shared_ptr<WsSession> session) { sessions_.push_back(std::move(session)); }
  // Does nothing if it is not there.
  void remove(const WsSession& session) {
    const auto place = std::ranges::find(sessions_, &session, &std::shared_ptr<WsSession>::get);
    if (place == sessions_.end()) return;
    std::swap(*place, sessions_.back());
    sessions_.pop_back();
  }

  // Calls `act` with each. It may neither add nor remove any.
  template <class Act>
  void for_each(const Act& act) const {
    for (const auto& session : sessions_) act(*session);
  }

  template <class Predicate>
  bool any_of(const Predicate& predicate) const {
    return std::ranges::any_of(sessions_, [&](const auto& session) { return predicate(*session); });
  }

 private:
  std::vector<std::shared_ptr<WsSession>> sessions_;
};

}  // namespace trainwatch
