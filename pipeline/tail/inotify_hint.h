// SPDX-License-Identifier: Apache-2.0
// Waits until something may have changed in the watched directories, or until a timeout. This is
// only a hint: it may wake up for nothing, and misses what other machines write to a network file
// system, so the caller scans at every timeout.
//
// For one thread; wake() may be called from any.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace trainwatch {

class InotifyHint {
 public:
  enum class Wake {
    timeout,
    woken,                // wake() was called
    files_changed,        // known files were written to: Tailer::refresh() is enough
    directories_changed,  // names appeared or vanished, or events were lost: Tailer::scan()
  };

  // Throws std::system_error if the process has no descriptor left for wake().
  InotifyHint();
  ~InotifyHint();
  InotifyHint(const InotifyHint&) = delete;
  InotifyHint& operator=(const InotifyHint&) = delete;

  // Watches a directory, not recursively. True: from now on; what happened there before was not
  // seen. Cheap if it is watched already; the next call retries a failure.
  bool add(const std::string& directory);

  // Returns as soon as there is something to report, and consumes all pending events.
  Wake wait(std::chrono::milliseconds timeout);

  void wake();

  // The paths that events named since the last call; empty optional: there were too many, or events
  // were lost.
  std::optional<std::vector<std::string>> take_changed();

  // Why some changes are noticed only by polling: "unavailable", "watch_limit" or "network_fs";
  // empty if inotify covers everything.
  std::string_view degraded() const;

 private:
  Wake take_events();
  void note_change(int watch, std::string_view name);
  void forget(int watch);

  std::array<char, 16384> events_{};  // as read; a local one would be cleared each time
  int wake_ = -1;
  int inotify_ = -1;                                  // -1: unavailable
  std::unordered_map<std::string, int> watches_;      // by directory
  std::unordered_map<int, std::string> directories_;  // by watch
  std::unordered_set<std::string> unwatched_;         // rejected: out of watches
  std::unordered_set<std::string> changed_;
  bool lost_ = false;  // not all changes are in changed_
  bool network_ = false;
};

}  // namespace trainwatch
