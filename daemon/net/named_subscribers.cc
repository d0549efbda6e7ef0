// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/named_subscribers.h"

#include <algorithm>
#include <utility>

namespace trainwatch {

bool is_subscriber_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), allowed);
}

NamedSubscribers::NamedSubscribers(std::map<std::string, std::uint64_t> acknowledged, Store store,
                                   std::size_t limit)
    : store_(std::move(store)), limit_(limit) {
  for (const auto& [name, seq] : acknowledged) known_.emplace(name, Known{seq, true});
}

std::optional<std::uint64_t> NamedSubscribers::find(const std::string& name) const {
  const auto known = known_.find(name);
  if (known == known_.end()) return std::nullopt;
  return known->second.seq;
}

bool NamedSubscribers::attach(const std::string& name, std::uint64_t seq) {
  auto known = known_.find(name);
  if (known == known_.end()) {
    if (known_.size() >= limit_ && !forget_one()) {
      ++refused_;
      return false;
    }
    known = known_.emplace(name, Known{seq, false}).first;
    store_(name, seq);
  }
  ++known->second.clients;
  known->second.used = ++uses_;
  return true;
}

void NamedSubscribers::detach(const std::string& name) {
  const auto known = known_.find(name);
  if (known == known_.end()) return;
  --known->second.clients;
  known->second.used = ++uses_;
}

// The store forgets the name that was stored longest ago, so the others are stored again.
bool NamedSubscribers::forget_one() {
  auto oldest = known_.end();
  for (auto each = known_.begin(); each != known_.end(); ++each) {
    if (each->second.clients > 0) continue;
    const auto rank = [](const Known& known) { return std::pair(known.acknowledged, known.used); };
    if (oldest == known_.end() || rank(each->second) < rank(oldest->second)) oldest = each;
  }
  if (oldest == known_.end()) return false;
  moved_.erase(oldest->first);
  known_.erase(oldest);
  ++forgotten_;
  for (const auto& [name, kept] : known_) moved(name);
  return true;
}

void NamedSubscribers::moved(const std::string& name) {
  const bool first = moved_.empty();
  moved_.insert(name);
  if (first && due_) due_();
}

void NamedSubscribers::acknowledge(const std::string& name, std::uint64_t seq) {
  const auto known = known_.find(name);
  if (known == known_.end()) return;
  known->second.acknowledged = true;
  known->second.used = ++uses_;
  if (seq <= known->second.seq) return;
  known->second.seq = seq;
  moved(name);
}

void NamedSubscribers::store() {
  for (const auto& name : std::exchange(moved_, {})) store_(name, known_.at(name).seq);
}

}  // namespace trainwatch
