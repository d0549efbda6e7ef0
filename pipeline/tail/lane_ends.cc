// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/lane_ends.h"

#include <algorithm>
#include <cstddef>

namespace trainwatch {

// The rest of its last record may be in a compressed file that has not been read yet.
bool LaneEnds::goes_on_compressed(const TrackedFile& file) const {
  if (file.progress.read.ends_whole() || file.presence.quiet.held_for(limits_.linger, clock_.now()))
    return false;
  return std::ranges::any_of(table_.same_base(file.identity.order.base), [](const auto* other) {
    return is_compressed(other->identity.order) && other->offset() == 0;
  });
}

void LaneEnds::find() {
  newest_in_lane_.assign(newest_in_lane_.size(), nullptr);
  for (const auto& file : table_.all()) {
    const auto lane = static_cast<std::size_t>(file->identity.lane);
    if (lane >= newest_in_lane_.size()) newest_in_lane_.resize(lane + 1, nullptr);
    const TrackedFile*& newest = newest_in_lane_[lane];
    if (file->presence.missing) continue;
    if (newest == nullptr || reads_before(*newest, *file)) newest = file.get();
  }
  const Nanos now = clock_.now();
  for (const auto& file : table_.all()) {
    const TrackedFile* newest = newest_in_lane_[static_cast<std::size_t>(file->identity.lane)];
    // A rotated file may still be written to; one that was not seen since a restart may have been
    // copied or compressed in the meantime.
    const bool found =
        !file->presence.missing || file->progress.doubt == TrackedFile::Progress::Doubt::none;
    const Nanos patience = file->progress.read.ends_whole() ? limits_.linger : limits_.gone;
    const bool over = file->presence.quiet.held_for(patience, now) && file->at_end();
    const bool rests = (file->identity.order.age == 0 && found) || over;
    const bool passed = newest != nullptr && reads_before(*file, *newest);
    file->presence.was_newest = file->presence.was_newest || !passed;
    // Attributes may be stale, but the writer is done: reading shows where the file ends.
    const bool may_lag = file->presence.remote || !file->presence.was_open;
    if (passed && !file->presence.passed && may_lag && !file->phase.finished())
      file->progress.touched = true;
    if (passed && !file->presence.passed && file->hold.failures() > 0) {
      file->hold.hurry(limits_.longest_retry_of_lane, now);  // from now on its lane waits for it
    }
    file->presence.passed = passed;
    const bool may_go_on =
        file->presence.missing && (discovered_.may_be_unclear(*file) || goes_on_compressed(*file));
    const bool over_now = (passed && rests) || !file->presence.linked;
    file->phase.set_end_due((over_now && !may_go_on) ||
                            file->presence.gone.held_for(limits_.gone, now));
  }
}

bool LaneEnds::goes_on(LaneId lane) const {
  const auto index = static_cast<std::size_t>(lane);
  return index < newest_in_lane_.size() && newest_in_lane_[index] != nullptr;
}

}  // namespace trainwatch
