// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify/outbox_reader.h"

#include <utility>

namespace trainwatch {

OutboxReader::OutboxReader(const AlertHub& hub, const AlertStoreClient& store, std::uint64_t after,
                           std::function<void()> ready)
    : hub_(hub),
      store_(store),
      position_(after),
      ready_(std::move(ready)),
      self_(std::make_shared<OutboxReader*>(this)) {}

PublishedAlertPtr OutboxReader::next() {
  if (position_ + 1 < hub_.first_seq()) {
    missed_ += hub_.first_seq() - 1 - position_;
    position_ = hub_.first_seq() - 1;
  }
  while (!page_.empty()) {
    PublishedAlertPtr alert = std::move(page_.front());
    page_.pop_front();
    if (alert->seq <= position_) continue;
    position_ = alert->seq;
    return alert;
  }
  if (at_end()) return nullptr;
  if (hub_.covers(position_)) {
    AlertFilter all;
    all.parts = true;
    return hub_.next(position_, all);
  }
  fetch();
  return nullptr;
}

void OutboxReader::fetch() {
  if (std::exchange(fetching_, true)) return;
  store_.fetch(position_, kAlertPage, [self = self_](AlertStoreClient::Page page) {
    if (*self == nullptr) return;
    OutboxReader& reader = **self;
    reader.fetching_ = false;
    if (!page || page->empty()) return;  // another call of next() tries again
    reader.page_.assign(page->begin(), page->end());
    reader.ready_();
  });
}

}  // namespace trainwatch
