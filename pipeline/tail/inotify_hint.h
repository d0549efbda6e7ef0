// Waits until something may have changed in the watched directories, or until a time-out. Only a
// hint: it may wake for nothing, and on file systems that others write to it may not wake at all,
// so the caller scans at every time-out.
//
// One thread uses it; wake() may be called from any.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace trainwatch {

class InotifyHint {
 public:
  enum class Wake {
    timeout,
    woken,                // wake() was called
    files_changed,        // known files were written to: Tailer::refresh() will do
    directories_changed,  // names came or went, or events were lost: Tailer::scan()
  };

  // Throws std::system_error when the process has no descriptor left for wake().
  InotifyHint();
  ~InotifyHint();
  InotifyHint(const InotifyHint&) = delete;
  InotifyHint& operator=(const InotifyHint&) = delete;

  // Watches a directory (not what is below it). Cheap when it is watched already; a failure is
  // tried again with the next call.
  void add(const std::string& directory);

  // Returns as soon as there is something to report, and then takes in all that has happened.
  Wake wait(std::chrono::milliseconds timeout);

  void wake();

  // Why not every change is noticed at once: "unavailable", "watch_limit", "network_fs"; empty
  // when nothing is wrong.
  std::string_view degraded() const;

 private:
  Wake take_events();
  void forget(int watch);

  int wake_ = -1;
  int inotify_ = -1;                                  // -1: unavailable
  std::unordered_map<std::string, int> watches_;      // by directory
  std::unordered_map<int, std::string> directories_;  // by watch
  std::unordered_set<std::string> unwatched_;         // refused for want of watches
  bool network_ = false;
};

}  // namespace trainwatch
