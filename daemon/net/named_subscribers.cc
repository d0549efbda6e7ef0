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
    : acknowledged_(std::move(acknowledged)), store_(std::move(store)), limit_(limit) {}

std::optional<std::uint64_t> NamedSubscribers::find(const std::string& name) const {
  const auto known = acknowledged_.find(name);
  if (known == acknowledged_.end()) return std::nullopt;
  return known->second;
}

bool NamedSubscribers::add(const std::string& name, std::uint64_t seq) {
  if (acknowledged_.size() >= limit_) {
    ++refused_;
    return false;
  }
  acknowledged_[name] = seq;
  store_(name, seq);
  return true;
}

void NamedSubscribers::acknowledge(const std::string& name, std::uint64_t seq) {
  const auto known = acknowledged_.find(name);
  if (known == acknowledged_.end() || seq <= known->second) return;
  known->second = seq;
  const bool first = moved_.empty();
  moved_.insert(name);
  if (first && due_) due_();
}

void NamedSubscribers::store() {
  for (const auto& name : std::exchange(moved_, {})) store_(name, acknowledged_[name]);
}

}  // namespace trainwatch
