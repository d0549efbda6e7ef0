// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/prefix_deduplicator.h"

#include <algorithm>
#include <utility>

namespace trainwatch {

bool PrefixDeduplicator::may_repeat(FileId file) const {
  if (decided()) return false;
  return std::any_of(candidates_.begin(), candidates_.end(),
                     [file](const Candidate& candidate) { return candidate.file == file; });
}

void PrefixDeduplicator::feed(std::string_view contents) {
  held_.append(contents);
  compare();
  if (decided()) {
    if (!repeated_) lost_ = let_go_;
  } else if (held_.size() > kMostHeld) {
    let_go_ += held_.size();
    held_.clear();
  }
}

void PrefixDeduplicator::finish() {
  if (seems_repeated()) held_.clear();
  candidates_.clear();
}

// Candidates drop out at their first block or at their end, whichever differs.
void PrefixDeduplicator::compare() {
  const std::uint64_t end = let_go_ + held_.size();
  if (let_go_ == 0) {
    std::erase_if(candidates_, [&](const Candidate& each) {
      const std::uint64_t head = std::min<std::uint64_t>(each.read.offset(), Fingerprint::kBlock);
      return end >= head && !each.read.begins_like(held_);
    });
  }
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.read.offset() < b.read.offset();
  });
  const std::string_view held = held_;
  std::size_t compared = seen_.offset() - let_go_;
  while (!candidates_.empty() && candidates_.front().read.offset() <= end) {
    const Candidate& next = candidates_.front();
    const std::size_t until = next.read.offset() - let_go_;
    seen_.extend(held.substr(compared, until - compared));
    compared = until;
    if (seen_ == next.read) repeated_ = next.file;
    candidates_.erase(candidates_.begin());
    if (repeated_) break;
  }
  if (repeated_) {
    held_.erase(0, compared);
    candidates_.clear();
  } else if (!candidates_.empty()) {
    seen_.extend(held.substr(compared));
  }
}

void PrefixDeduplicator::state(StateIo& io) {
  io(candidates_);
  io(seen_);
  io(held_);
  io(let_go_);
  io(lost_);
  std::uint32_t file = repeated_ ? static_cast<std::uint32_t>(*repeated_) : 0;
  io(file);
  if (io.is_loading() && file != 0) repeated_ = static_cast<FileId>(file);
}

}  // namespace trainwatch
