#include "pipeline/tail/read_queue.h"

#include <algorithm>

namespace trainwatch {
namespace {

bool has_more(const TrackedFile& file) {
  return !file.at_end();
}

// On a network file system it appears shorter than what was read of it: the next scans decide.
bool may_have_restarted(const TrackedFile& file) {
  return file.presence.shrunk;
}

}  // namespace

bool reads_before(const TrackedFile& a, const TrackedFile& b) {
  if (const auto order = a.identity.order <=> b.identity.order; order != 0) return order < 0;
  return a.identity.id < b.identity.id;
}

void ReadQueue::fill(const FileTable& table, const std::vector<FilePlace>& holds) {
  files_.clear();
  next_ = 0;
  held_.clear();
  const auto is_held = [&](const TrackedFile& file) {
    return std::any_of(holds.begin(), holds.end(), [&](const FilePlace& before) {
      return before.lane == table.lane_name(file.identity.lane) &&
             before.order < file.identity.order;
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
    const bool waits = has_more(*file) ? file->hold.active() : may_have_restarted(*file);
    const bool too_long = file->hold.failing_for(limits_.hold, clock_.now());
    if (waits && !too_long) held_.insert(file->identity.lane);
    if (!waits && !held_.contains(file->identity.lane)) return file;
    ++next_;
  }
  return nullptr;
}

void ReadQueue::pop() {
  ++next_;
}

}  // namespace trainwatch
