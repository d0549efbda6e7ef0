#include "pipeline/tail/read_queue.h"

#include <algorithm>

namespace trainwatch {
namespace {

// A lane goes on without a file that failed this often: after about a minute of scans.
constexpr unsigned kLongestHold = 6;

bool has_more(const TrackedFile& file) {
  return !file.at_end();
}

}  // namespace

bool reads_before(const TrackedFile& a, const TrackedFile& b) {
  if (const auto order = a.order <=> b.order; order != 0) return order < 0;
  return a.id < b.id;
}

void ReadQueue::fill(const FileTable& table) {
  files_.clear();
  next_ = 0;
  held_.clear();
  for (const auto& file : table.all()) {
    if (has_more(*file)) files_.push_back(file.get());
  }
  std::sort(files_.begin(), files_.end(),
            [](const auto* a, const auto* b) { return reads_before(*a, *b); });
}

TrackedFile* ReadQueue::front() {
  while (next_ < files_.size()) {
    TrackedFile* const file = files_[next_];
    const bool waits = file->blocked && has_more(*file);
    if (waits && file->failures <= kLongestHold) held_.insert(file->lane);
    if (!waits && !held_.contains(file->lane)) return file;
    ++next_;
  }
  return nullptr;
}

void ReadQueue::pop() {
  ++next_;
}

}  // namespace trainwatch
