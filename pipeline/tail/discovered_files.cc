// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/discovered_files.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace trainwatch {

namespace {

// Comparing two files reads them, so a file is compared with this many of its base name, those next
// to it in order.
constexpr std::size_t kNeighbours = 16;

bool has_content(const FoundFile& found) {
  return found.stat.size > 0;
}

}  // namespace

DiscoveredFiles::DiscoveredFiles(FileSystem& files, FileTable& table, FileReader& reader,
                                 const TailLimits& limits, const PatienceClock& clock)
    : table_(table), reader_(reader), limits_(limits), clock_(clock), matcher_(files, table) {}

void DiscoveredFiles::met(FilePlace place, const FileStat& stat) {
  found_.push_back({{std::move(place), stat}, false});
}

bool DiscoveredFiles::look_again() {
  std::vector<FileIdentity> now = identities();
  if (std::ranges::includes(found_before_, now)) return false;
  found_before_ = std::move(now);
  found_.clear();
  left_out_ = 0;
  return true;
}

std::vector<FileIdentity> DiscoveredFiles::identities() const {
  std::vector<FileIdentity> result;
  result.reserve(found_.size());
  for (const Discovered& discovered : found_) result.push_back(discovered.found.stat.identity);
  std::ranges::sort(result);
  return result;
}

// found_ is in order.
void DiscoveredFiles::leave_out_later_files() {
  const std::vector<FileIdentity> before = std::exchange(found_before_, identities());
  std::unordered_set<std::string_view> met_twice;  // lanes, from the last such file on backwards
  std::vector<bool> stays(found_.size());
  for (std::size_t i = found_.size(); i-- > 0;) {
    const FoundFile& found = found_[i].found;
    if (std::ranges::binary_search(before, found.stat.identity)) met_twice.insert(found.place.lane);
    stays[i] = met_twice.contains(found.place.lane);
  }
  std::size_t next = 0;
  std::erase_if(found_, [&](const Discovered&) { return !stays[next++]; });
}

void DiscoveredFiles::take_in(const ScanContext& scan) {
  scan_ = scan.number;
  std::sort(found_.begin(), found_.end(), [](const Discovered& a, const Discovered& b) {
    return a.found.place.order < b.found.place.order;
  });
  leave_out_later_files();
  dropped_ = std::exchange(left_out_, 0);
  make_room(scan.sink);
  release_holds(scan);
  moved_.clear();
  if (found_.empty() && holds_.empty()) {
    unclear_.clear();
    table_.forget_numbers();
  }
  if (found_.empty()) return;
  matcher_.begin(scan_);
  note_copies();
  // Match files to the current places of known ones first: the others may be copies of those.
  std::stable_partition(found_.begin(), found_.end(), [this](const Discovered& discovered) {
    return matcher_.may_be_mounted_again(discovered.found);
  });
  for (Discovered& discovered : found_) {
    // Added by now: two names of one file.
    const FileIdentity identity = discovered.found.stat.identity;
    if (table_.find(identity) == nullptr && !discovered.copy) take_in(discovered, scan);
    if (table_.find(identity) == nullptr) table_.reserve_number(identity);
  }
  found_ = std::vector<Discovered>();  // the first scan of a large tree finds all of it
}

// Empty files give up their places to files with content, and get one only where one is left.
void DiscoveredFiles::make_room(TailSink& sink) {
  const auto with_content = static_cast<std::size_t>(std::ranges::count_if(
      found_, [](const Discovered& discovered) { return has_content(discovered.found); }));
  const std::size_t room = table_.room();
  if (with_content > room) forget(table_.spare(with_content - room), sink);
  forget(table_.surplus(), sink);
  forget(table_.outdated(), sink);
  if (found_.size() <= table_.room()) return;
  std::stable_partition(found_.begin(), found_.end(),
                        [](const Discovered& discovered) { return has_content(discovered.found); });
}

// found_ is in order, so files with the same base name are near each other.
void DiscoveredFiles::note_copies() {
  std::unordered_map<std::string_view, std::vector<Discovered*>> by_base;
  for (Discovered& discovered : found_) {
    by_base[discovered.found.place.order.base].push_back(&discovered);
  }
  for (const auto& [base, same] : by_base) {
    for (std::size_t i = 0; i < same.size(); ++i) {
      const std::size_t first = i - std::min(i, kNeighbours);
      const std::size_t last = std::min(same.size(), i + kNeighbours + 1);
      for (std::size_t j = first; j < last && !same[i]->copy; ++j) {
        same[i]->copy = j != i && matcher_.copies(same[i]->found, same[j]->found);
      }
    }
  }
}

void DiscoveredFiles::take_in(Discovered& discovered, const ScanContext& scan) {
  FoundFile& found = discovered.found;
  using Kind = RotationMatcher::Kind;
  // Whatever replaced a moved file is discovered by the next scan; this file may be a copy of it.
  if (std::ranges::find(moved_, found.place.order.base) != moved_.end()) {
    return hold_lane(found);
  }
  RotationMatcher::Relation relation = matcher_.relate(found);
  if (relation.kind == Kind::waits) return;
  if (relation.kind == Kind::unclear) {
    if (matcher_.may_be_mounted_again(found)) moved_.push_back(found.place.order.base);
    return hold_lane(found);
  }
  if (relation.kind == Kind::continues || relation.kind == Kind::moved) {
    if (relation.kind == Kind::moved) {
      moved_.push_back(found.place.order.base);
      holds_.push_back(found.place);
    }
    return adopt(*relation.of, std::move(found), scan.sink);
  }
  if (table_.room() == 0) {
    if (has_content(found)) ++dropped_;
    return;
  }
  TrackedFile& file = table_.add(std::move(found.place), found.stat);
  if (relation.since) file.identity.since = *relation.since;
  if (const TrackedFile* const plain = plain_of(file)) file.identity.since = plain->identity.since;
  file.presence.seen_in_scan = scan_;
  observe(file, found.stat, limits_.shrunk, clock_.now());
  // Open it at once, so that it can be read even if it is deleted next. read() reports failures.
  if (table_.may_open_more()) (void)table_.open(file);
}

bool DiscoveredFiles::may_be_unclear(const TrackedFile& file) const {
  return std::ranges::any_of(holds_, [&file](const FilePlace& place) {
    return place.order.base == file.identity.order.base;
  });
}

// The uncompressed file that it is made from; null if there is none or `compressed` is not
// compressed.
const TrackedFile* DiscoveredFiles::plain_of(const TrackedFile& compressed) const {
  if (!is_compressed(compressed.identity.order)) return nullptr;
  for (const TrackedFile* const file : table_.same_base(compressed.identity.order.base)) {
    const bool named = file->identity.order.path + ".gz" == compressed.identity.order.path;
    if (named && file->presence.seen_in_scan == scan_) return file;
  }
  return nullptr;
}

// Later files of its lane wait for it, but not forever.
void DiscoveredFiles::hold_lane(const FoundFile& found) {
  const auto [unclear, is_new] = unclear_.try_emplace(found.stat.identity, clock_.now());
  if (clock_.now() - unclear->second < limits_.hold) holds_.push_back(found.place);
}

// The next scan finds the files again, unless it cannot list their directory.
void DiscoveredFiles::release_holds(const ScanContext& scan) {
  std::erase_if(holds_, [&scan](const FilePlace& place) {
    return scan.lists_directory_of(place.order.path);
  });
  holds_unseen_.set(!holds_.empty(), clock_.now());
  if (holds_unseen_.held_for(limits_.hold, clock_.now())) holds_.clear();
}

// The content of `file` was found elsewhere: reading continues there.
void DiscoveredFiles::adopt(TrackedFile& file, FoundFile found, TailSink& sink) {
  table_.move(file, std::move(found.place.order), found.stat.identity);
  file.hold.clear();
  file.presence.seen_in_scan = scan_;
  observe(file, found.stat, limits_.shrunk, clock_.now());
  if (table_.may_open_more()) (void)table_.open(file);
  if (file.phase.opened()) sink.renamed(reader_.known(file));
}

void DiscoveredFiles::replaced(TrackedFile& file, TailSink& sink) {
  RotationMatcher::Search search = matcher_.search(file);
  if (search.replacement) {
    // Whatever is in the old place now is newer. The next scan finds it; until then the lane waits.
    holds_.push_back({table_.lanes().name(file.identity.lane), file.identity.lane_is_single,
                      search.replacement->place.order});
    return adopt(file, *std::move(search.replacement), sink);
  }
  if (!file.progress.head.empty()) {
    file.progress.former_head = file.progress.head;
    ++file.identity.since;
  }
  if (!search.listed &&
      !file.presence.unlisted.held_for(limits_.hold, clock_.now())) {  // check again
    file.hold.until_next_scan();
    file.progress.touched = true;
    return;
  }
  if (file.offset() > 0) {
    const std::uint64_t lost = restart(file);
    if (file.phase.opened()) sink.restarted(file.identity.id, lost);
  }
  file.progress.head.clear();
  // One of them may hold what was written in between: the next scan finds it, and it is read first.
  if (search.unknown_siblings) file.hold.until_next_scan();
}

void DiscoveredFiles::forget(const std::vector<TrackedFile*>& files, TailSink& sink) {
  for (TrackedFile* const file : files) {
    file->phase.set_end_due(true);
    reader_.settle(*file, sink);
    const bool retired = table_.retire(*file);
    if (file->phase.opened()) sink.forgotten(file->identity.id, retired);
  }
  table_.remove(files);
}

}  // namespace trainwatch
