// SPDX-License-Identifier: Apache-2.0
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

  // A client uses the name, until detach(). A new name begins at `seq`, and is stored at once. If
  // there are too many, it takes the place of one that nobody uses: of one that never acknowledged,
  // else of the one unused for longest. False if all are in use.
  bool attach(const std::string& name, std::uint64_t seq);
  void detach(const std::string& name);

  // Moves the cursor of a known name forward, never back.
  void acknowledge(const std::string& name, std::uint64_t seq);

  // Stores all cursors that have moved.
  void store();

  std::uint64_t count() const { return known_.size(); }
  std::uint64_t refused() const { return refused_; }
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  struct Known {
    std::uint64_t seq;
    bool acknowledged;       // ever
    std::uint64_t used = 0;  // the higher, the later
    std::size_t clients = 0;
  };

  bool forget_one();
  void moved(const std::string& name);

  std::map<std::string, Known> known_;
  std::set<std::string> moved_;
  Store store_;
  std::size_t limit_;
  Due due_;
  std::uint64_t uses_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t forgotten_ = 0;
};

}  // namespace trainwatch
