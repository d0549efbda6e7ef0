#include "pipeline/tail/read_queue.h"

#include <algorithm>

namespace trainwatch {
namespace {

bool has_more(const TrackedFile& file) {
  return !file.at_end();
}

// On a network file system it seems to be smaller than what was read of it: the next looks tell.
bool may_have_restarted(const TrackedFile& file) {
  return file.shrunk;
}

}  // namespace

bool reads_before(const TrackedFile& a, const TrackedFile& b) {
  if (const auto order = a.order <=> b.order; order != 0) return order < 0;
  return a.id < b.id;
}

void ReadQueue::fill(const FileTable& table, const std::vector<FilePlace>& holds) {
  files_.clear();
  next_ = 0;
  held_.clear();
  const auto is_held = [&](const TrackedFile& file) {
    return std::any_of(holds.begin(), holds.end(), [&](const FilePlace& before) {
      return before.lane == table.lane_name(file.lane) && before.order < file.order;
    });
  };
  for (const auto& file : table.all()) {
    const bool concerned = has_more(*file) || may_have_restarted(*file);
    if (concerned && !is_held(*file)) files_.push_back(file.get());
  }
  std::sort(files_.begin(), files_.end(),
            [](const auto* a, const auto* b) { return reads_before(*a, *b); });
}

TrackedFile* ReadQueue::front() {
  while (next_ < files_.size()) {
    TrackedFile* const file = files_[next_];
    const bool waits = has_more(*file) ? file->blocked : may_have_restarted(*file);
    if (waits && file->failing_polls <= kLongestHold) held_.insert(file->lane);
    if (!waits && !held_.contains(file->lane)) return file;
    ++next_;
  }
  return nullptr;
}

void ReadQueue::pop() {
  ++next_;
}

}  // namespace trainwatch
