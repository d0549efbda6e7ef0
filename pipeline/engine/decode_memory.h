// SPDX-License-Identifier: Apache-2.0
// How many bytes the contents of files make their decoders hold, all files together.
//
// Measuring takes a pass over the state of a decoder, so what was fed since counts as the most that
// it can have become, and the file with the largest estimate is measured only when all of them are
// too many.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "trainwatch/diagnostics.h"

namespace trainwatch {

class DecodeMemory {
 public:
  // A byte of contents makes a decoder hold at most about so many: a short element of a list.
  static constexpr std::size_t kMostOfAByte = 32;

  explicit DecodeMemory(std::size_t most) : most_(most) {}

  void fed(FileId file, std::size_t bytes) {
    const Held held = files_[file];
    set(file, {held.bytes + kMostOfAByte * bytes, false});
  }
  void measured(FileId file, std::size_t bytes) { set(file, {bytes, true}); }
  void forget(FileId file) {
    const auto found = files_.find(file);
    if (found == files_.end()) return;
    by_size_.erase({found->second.bytes, file});
    total_ -= found->second.bytes;
    files_.erase(found);
  }

  bool knows(FileId file) const { return files_.contains(file); }
  bool full() const { return total_ > most_; }
  // The file that holds most. Only if there is one.
  FileId largest() const { return by_size_.rbegin()->second; }
  // What is known of it is no estimate.
  bool is_measured(FileId file) const { return files_.at(file).measured; }

 private:
  struct Held {
    std::size_t bytes = 0;
    bool measured = false;
  };

  void set(FileId file, Held held) {
    Held& known = files_[file];
    total_ += held.bytes - known.bytes;
    auto place = by_size_.extract({known.bytes, file});  // reused: no allocation
    known = held;
    if (place.empty()) {
      by_size_.emplace(held.bytes, file);
    } else {
      place.value().first = held.bytes;
      by_size_.insert(std::move(place));
    }
  }

  std::size_t most_;
  std::size_t total_ = 0;
  std::map<FileId, Held> files_;
  std::set<std::pair<std::size_t, FileId>> by_size_;
};

}  // namespace trainwatch
