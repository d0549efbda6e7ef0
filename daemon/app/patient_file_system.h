// SPDX-License-Identifier: Apache-2.0
// A file system whose calls return. A root on a network file system may hang for ever, so its calls
// are made by a thread of its own, and one that does not answer in time is given up: from then on,
// until it does return, calls below that root fail at once and the other roots are read on.
//
// For one thread, but for call_duration(). A thread that hangs outlives this object, and ends when
// its call returns.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/tail/file_system.h"
#include "pipeline/tail/watch_root.h"

namespace trainwatch {

class RootThread;

class PatientFileSystem final : public FileSystem {
 public:
  // Makes a file system for the thread of one root, or for all that need none.
  using Make = std::function<std::unique_ptr<FileSystem>()>;
  // Whether the calls below a root may hang. Asked by its thread, as that may hang, too.
  using MayHang = std::function<bool(const WatchRoot&)>;

  PatientFileSystem(std::vector<WatchRoot> roots, const Make& make, const MayHang& may_hang,
                    std::chrono::milliseconds patience);
  ~PatientFileSystem() override;

  Result<std::vector<DirectoryEntry>> list(const std::string& directory) override;
  Result<FileStat> stat(const std::string& path) override;
  Result<std::unique_ptr<OpenFile>> open(const std::string& path) override;
  bool answers(const std::string& root) const override;

  // How long the call that hangs longest has been waited for; zero if none does.
  std::chrono::steady_clock::duration silence() const;
  // Any thread: how long the current call has taken so far; zero without one.
  std::chrono::steady_clock::duration call_duration() const;

  // The start of the current call; zero without one.
  using CallBegan = std::atomic<std::chrono::steady_clock::rep>;

 private:
  // Null: its calls do not hang.
  const std::shared_ptr<RootThread>* thread_of(const std::string& path) const;

  std::vector<WatchRoot> roots_;
  std::vector<std::shared_ptr<RootThread>> threads_;  // of each root; null: none
  std::unique_ptr<FileSystem> direct_;
  std::shared_ptr<CallBegan> began_ = std::make_shared<CallBegan>(0);  // shared with open files
};

}  // namespace trainwatch
