// SPDX-License-Identifier: Apache-2.0
// A disk in memory that knows what was synced. When the power fails, each 512-byte sector that was
// written and not synced is kept, lost or torn, and each name that was made or removed without a
// sync of the directory is there or not, by chance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trainwatch::test {

class MemoryFile {
 public:
  const std::string& bytes() const { return now_; }

  void write(std::size_t at, std::string_view bytes) {
    apply(now_, {at, std::string(bytes), false});
    pending_.push_back({at, std::string(bytes), false});
  }
  void truncate(std::size_t size) {
    apply(now_, {size, {}, true});
    pending_.push_back({size, {}, true});
  }
  void sync() {
    synced_ = now_;
    pending_.clear();
  }
  // As kernels have it: some of the bytes may be on the disk, readers see all of them, and no later
  // sync writes them any more.
  void fail_sync(std::mt19937_64& random) {
    synced_ = survivors(random);
    pending_.clear();
  }
  void lose_power(std::mt19937_64& random) {
    now_ = survivors(random);
    sync();
  }

 private:
  static constexpr std::size_t kSector = 512;
  struct Change {
    std::size_t at = 0;  // for a truncation the new size
    std::string bytes;
    bool truncates = false;
  };

  static void apply(std::string& file, const Change& change) {
    if (change.truncates) {
      if (change.at < file.size()) file.resize(change.at);
      return;
    }
    if (change.at + change.bytes.size() > file.size()) file.resize(change.at + change.bytes.size());
    file.replace(change.at, change.bytes.size(), change.bytes);
  }

  std::string survivors(std::mt19937_64& random) const {
    std::string file = synced_;
    for (const Change& change : pending_) {
      if (change.truncates) {
        if (random() % 2 == 0) apply(file, change);
        continue;
      }
      std::size_t done = 0;
      while (done < change.bytes.size()) {
        const std::size_t at = change.at + done;
        const std::size_t length = std::min(kSector - at % kSector, change.bytes.size() - done);
        const std::uint64_t fate = random() % 5;  // 0, 1: lost; 2: torn; 3, 4: kept
        const std::size_t kept = fate < 2 ? 0 : fate == 2 ? random() % length : length;
        if (kept > 0) apply(file, {at, change.bytes.substr(done, kept), false});
        done += length;
      }
    }
    return file;
  }

  std::string synced_;
  std::string now_;
  std::vector<Change> pending_;
};

class MemoryDisk {
 public:
  using File = std::shared_ptr<MemoryFile>;

  File find(const std::string& name) const {
    const auto found = now_.find(name);
    return found == now_.end() ? nullptr : found->second;
  }
  File make(const std::string& name) { return now_[name] = std::make_shared<MemoryFile>(); }
  void remove(const std::string& name) { now_.erase(name); }
  void sync_directory() { synced_ = now_; }

  void lose_power(std::mt19937_64& random) {
    std::set<std::string> names;
    for (const auto& [name, file] : synced_) names.insert(name);
    for (const auto& [name, file] : now_) names.insert(name);
    for (const std::string& name : names) {
      const auto old = synced_.find(name);
      if (find(name) == (old == synced_.end() ? nullptr : old->second)) continue;
      if (random() % 2 == 0) continue;
      if (old == synced_.end()) {
        now_.erase(name);
      } else {
        now_[name] = old->second;
      }
    }
    for (const auto& [name, file] : now_) file->lose_power(random);
    sync_directory();
  }

 private:
  std::map<std::string, File> synced_;
  std::map<std::string, File> now_;
};

}  // namespace trainwatch::test
