// Subscribers with a name: how far each has acknowledged, over connections and restarts. Net thread
// only; no clock: whoever owns this calls tell() after something became due.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace trainwatch {

inline constexpr std::size_t kMaxNamedSubscribers = 64;

// 1 to 64 characters of A-Z a-z 0-9 . _ -
bool is_subscriber_name(std::string_view name);

class NamedSubscribers {
 public:
  using Tell = std::function<void(const std::string& name, std::uint64_t seq)>;
  using Due = std::function<void()>;

  // `tell` stores a cursor.
  NamedSubscribers(std::map<std::string, std::uint64_t> acknowledged, Tell tell);

  // Called when there is something to tell, once until the next tell().
  void when_due(Due due) { due_ = std::move(due); }

  // The acknowledged number of a name that is known; nothing for another.
  std::optional<std::uint64_t> find(const std::string& name) const;

  // Makes a new name known, and stored at once. False, and counted, when there are too many.
  bool add(const std::string& name, std::uint64_t seq);

  // Moves the cursor of a known name forward, never back.
  void acknowledge(const std::string& name, std::uint64_t seq);

  // Stores every cursor that moved since.
  void tell();

  std::uint64_t count() const { return acknowledged_.size(); }
  std::uint64_t refused() const { return refused_; }

 private:
  std::map<std::string, std::uint64_t> acknowledged_;
  std::set<std::string> moved_;
  Tell tell_;
  Due due_;
  std::uint64_t refused_ = 0;
};

}  // namespace trainwatch
