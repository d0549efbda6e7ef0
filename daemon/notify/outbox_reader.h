// SPDX-License-Identifier: Apache-2.0
// Reads the log of alerts in order from a position: from the window in memory, or from the store
// where it begins later. Net thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "daemon/net/alert_hub.h"
#include "daemon/net/engine_client.h"

namespace trainwatch {

class OutboxReader {
 public:
  // `ready` is called, later, when next() returns something again that it did not have in memory.
  // `hub` and `store` outlive it.
  OutboxReader(const AlertHub& hub, const AlertStoreClient& store, std::uint64_t after,
               std::function<void()> ready);
  ~OutboxReader() { *self_ = nullptr; }
  OutboxReader(const OutboxReader&) = delete;
  OutboxReader& operator=(const OutboxReader&) = delete;

  // The next alert; null if there is none yet, or it is being read from the store. After an error
  // of the store the next call tries again.
  PublishedAlertPtr next();

  // The number of the alert that next() returned last, or the position at the start.
  std::uint64_t position() const { return position_; }
  bool at_end() const { return position_ >= hub_.last_seq(); }
  // Alerts that the store had dropped before they were read.
  std::uint64_t missed() const { return missed_; }

 private:
  void fetch();

  const AlertHub& hub_;
  const AlertStoreClient& store_;
  std::uint64_t position_;
  std::uint64_t missed_ = 0;
  std::function<void()> ready_;
  std::deque<PublishedAlertPtr> page_;
  bool fetching_ = false;
  std::shared_ptr<OutboxReader*> self_;  // for responses: null once it is gone
};

}  // namespace trainwatch
