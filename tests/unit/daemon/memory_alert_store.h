// SPDX-License-Identifier: Apache-2.0
// A store in memory that responds on demand.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "daemon/net/engine_client.h"

namespace trainwatch {

struct MemoryAlertStore {
  struct Request {
    std::uint64_t after;
    std::size_t limit;
    AlertStoreClient::Done done;
    bool firing = false;
  };

  std::string epoch = "epoch-1";
  std::uint64_t last_seq = 0;
  std::deque<PublishedAlertPtr> alerts;
  std::map<std::string, std::uint64_t> acknowledged;
  std::size_t acknowledgements = 0;
  std::deque<Request> requests;
  std::size_t asked = 0;
  bool fails = false;

  std::uint64_t first_seq() const { return alerts.empty() ? last_seq + 1 : alerts.front()->seq; }

  void store(const std::vector<PublishedAlertPtr>& more) {
    for (const auto& alert : more) {
      alerts.push_back(alert);
      last_seq = alert->seq;
    }
  }
  void prune(std::uint64_t first) {
    while (!alerts.empty() && alerts.front()->seq < first) alerts.pop_front();
  }

  // Those that fire, each in its latest version.
  std::vector<PublishedAlertPtr> firing() const {
    std::map<std::string, PublishedAlertPtr> latest;
    for (const auto& alert : alerts) latest[alert->id] = alert;
    std::vector<PublishedAlertPtr> found;
    for (const auto& alert : alerts) {
      const bool fires = alert->state == Alert::State::firing;
      if (fires && latest[alert->id] == alert) found.push_back(alert);
    }
    return found;
  }

  // Answers the oldest request; false when there is none.
  bool answer() {
    if (requests.empty()) return false;
    const auto request = std::move(requests.front());
    requests.pop_front();
    if (fails) {
      request.done(Error{"disk full"});
      return true;
    }
    if (request.firing) {
      request.done(firing());
      return true;
    }
    std::vector<PublishedAlertPtr> page;
    const auto start = std::partition_point(
        alerts.begin(), alerts.end(),
        [&request](const PublishedAlertPtr& alert) { return alert->seq <= request.after; });
    const auto size =
        std::min<std::ptrdiff_t>(alerts.end() - start, static_cast<std::ptrdiff_t>(request.limit));
    page.assign(start, start + size);
    request.done(std::move(page));
    return true;
  }

  // The store must stay where it is. `on_request` is called after each request.
  AlertStoreClient api(std::function<void()> on_request = [] {}) {
    return {
        [this, on_request](std::uint64_t after, std::size_t limit, AlertStoreClient::Done done) {
          requests.push_back({after, limit, std::move(done)});
          ++asked;
          on_request();
        },
        [this, on_request](std::size_t limit, AlertStoreClient::Done done) {
          requests.push_back({0, limit, std::move(done), true});
          on_request();
        },
        [this](const std::string& name, std::uint64_t seq) {
          acknowledged[name] = seq;
          ++acknowledgements;
        },
        nullptr, acknowledged};
  }
};

}  // namespace trainwatch
