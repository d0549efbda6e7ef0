// Subscribers with a name: how far each has acknowledged, across connections and restarts. Net
// thread only; no clock: the owner calls store() after something became due.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace trainwatch {

// 1 to 64 characters of A-Z a-z 0-9 . _ -
bool is_subscriber_name(std::string_view name);

class NamedSubscribers {
 public:
  using Store = std::function<void(const std::string& name, std::uint64_t seq)>;
  using Due = std::function<void()>;

  // `store` stores a cursor. At most `limit` names are kept.
  NamedSubscribers(std::map<std::string, std::uint64_t> acknowledged, Store store,
                   std::size_t limit);

  std::size_t limit() const { return limit_; }

  // Called when there is something to store, once until the next store().
  void when_due(Due due) { due_ = std::move(due); }

  // The acknowledged number of a known name; nullopt for an unknown one.
  std::optional<std::uint64_t> find(const std::string& name) const;

  // Adds a new name, and stores it at once. False, and counted, if there are too many.
  bool add(const std::string& name, std::uint64_t seq);

  // Moves the cursor of a known name forward, never back.
  void acknowledge(const std::string& name, std::uint64_t seq);

  // Stores all cursors that have moved.
  void store();

  std::uint64_t count() const { return acknowledged_.size(); }
  std::uint64_t refused() const { return refused_; }

 private:
  std::map<std::string, std::uint64_t> acknowledged_;
  std::set<std::string> moved_;
  Store store_;
  std::size_t limit_;
  Due due_;
  std::uint64_t refused_ = 0;
};

}  // namespace trainwatch
