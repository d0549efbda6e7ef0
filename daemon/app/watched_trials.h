// SPDX-License-Identifier: Apache-2.0
// The trials of SageMaker Debugger below the watched roots, as far as they have been read. Only
// found ones can be asked for, so no request names a path. For one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/app/file_worker.h"
#include "pipeline/tail/file_system.h"
#include "pipeline/tail/watch_root.h"
#include "pipeline/tensors/trial.h"
#include "trainwatch/result.h"

namespace trainwatch {

class WatchedTrials {
 public:
  static constexpr std::size_t kMostTrials = 1000;  // that are known
  static constexpr std::size_t kMostRead = 8;       // that are kept in memory
  // Of each of them: about 16 MiB of index files and 8 MiB of names.
  static constexpr TrialLimits kLimits{50'000, 20'000, std::size_t{4} << 20U,
                                       std::size_t{8} << 20U};

  struct Entry {
    std::string root;  // the name of the watched path
    std::string name;  // below it; "." for itself
    std::string directory;
    std::int64_t announced = -1;  // steps up to here are no news
    bool end_announced = false;
    std::uint64_t used = 0;  // counts reads: the last one
    std::optional<Trial> trial{};
  };

  explicit WatchedTrials(std::vector<WatchRoot> roots);

  // Looks below all roots. What was known and is not found is forgotten, unless the time for it
  // was over.
  void find(RequestFiles& files);
  std::vector<Entry>& all() { return entries_; }
  // Returns the trial that the request names. Fails unless exactly one matches.
  struct Choice {
    Entry* entry = nullptr;
    int refused = 0;  // the status, with the reason
    std::string why{};
  };
  Choice choose(const std::optional<std::string>& root, const std::optional<std::string>& trial);

  // As it is now on disk; valid until the next call. The trial uses `files` until then.
  Result<Trial*> read(Entry& entry, FileSystem& files);

 private:
  // Trials keep their files; each request has its own.
  class CurrentFiles final : public FileSystem {
   public:
    void use(FileSystem& files) { files_ = &files; }
    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override {
      return files_->list(directory);
    }
    Result<FileStat> stat(const std::string& path) override { return files_->stat(path); }
    Result<std::unique_ptr<OpenFile>> open(const std::string& path) override {
      return files_->open(path);
    }

   private:
    FileSystem* files_ = nullptr;
  };

  void make_room();

  std::vector<WatchRoot> roots_;
  std::vector<Entry> entries_;  // by root, then path
  std::unique_ptr<CurrentFiles> files_ = std::make_unique<CurrentFiles>();
  std::uint64_t uses_ = 0;
};

}  // namespace trainwatch
