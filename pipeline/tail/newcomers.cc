#include "pipeline/tail/newcomers.h"

#include <algorithm>
#include <utility>

namespace trainwatch {

bool ScanContext::lists_directory_of(const std::string& path) const {
  const std::string directory = path.substr(0, path.rfind('/'));
  return std::ranges::find(listing.directories, directory) != listing.directories.end();
}

Newcomers::Newcomers(FileSystem& files, FileTable& table, FileReader& reader,
                     const TailLimits& limits)
    : table_(table), reader_(reader), limits_(limits), succession_(files, table) {}

void Newcomers::met(FilePlace place, const FileStat& stat, std::size_t root) {
  found_.push_back({{std::move(place), stat}, root, false});
}

void Newcomers::take_in(const ScanContext& scan) {
  scan_ = scan.number;
  std::sort(found_.begin(), found_.end(), [](const Newcomer& a, const Newcomer& b) {
    return a.found.place.order < b.found.place.order;
  });
  const std::size_t room = limits_.max_files - std::min(limits_.max_files, table_.all().size());
  if (found_.size() > room) forget(table_.spare(found_.size() - room), scan.sink);
  forget(table_.surplus(), scan.sink);
  dropped_ = 0;
  release_holds(scan);
  moved_.clear();
  if (found_.empty() && holds_.empty()) {
    unclear_.clear();
    table_.forget_numbers();
  }
  if (found_.empty()) return;
  succession_.begin(scan_);
  for (Newcomer& newcomer : found_) {
    newcomer.copy = std::ranges::any_of(found_, [&](const Newcomer& other) {
      return &other != &newcomer && succession_.copies(newcomer.found, other.found);
    });
  }
  // First where the known files are now: the others may be copies of those.
  std::stable_partition(found_.begin(), found_.end(), [this](const Newcomer& newcomer) {
    return succession_.may_be_mounted_again(newcomer.found);
  });
  for (Newcomer& newcomer : found_) {
    // Known by now: two names of one file.
    const FileIdentity identity = newcomer.found.stat.identity;
    if (table_.find(identity) == nullptr && !newcomer.copy) take_in(newcomer, scan);
    if (table_.find(identity) == nullptr) table_.reserve_number(identity);
  }
  found_.clear();
}

void Newcomers::take_in(Newcomer& newcomer, const ScanContext& scan) {
  FoundFile& found = newcomer.found;
  using Kind = Succession::Kind;
  // What stands in the place of a moved one is seen as a new file in the next scan; this one may be
  // a copy of that.
  if (std::ranges::find(moved_, found.place.order.base) != moved_.end()) {
    return hold_lane(found, scan.age);
  }
  Succession::Relation relation = succession_.relate(found);
  if (relation.kind == Kind::waits) return;
  if (relation.kind == Kind::unclear) {
    if (succession_.may_be_mounted_again(found)) moved_.push_back(found.place.order.base);
    return hold_lane(found, scan.age);
  }
  if (relation.kind == Kind::continues || relation.kind == Kind::moved) {
    if (relation.kind == Kind::moved) {
      moved_.push_back(found.place.order.base);
      holds_.push_back(found.place);
    }
    return adopt(*relation.of, std::move(found), scan.sink);
  }
  if (table_.full()) {
    ++dropped_;
    return;
  }
  TrackedFile& file = table_.add(std::move(found.place), newcomer.root, found.stat);
  if (relation.since) file.since = *relation.since;
  if (const TrackedFile* const plain = plain_of(file)) file.since = plain->since;
  file.seen_in_scan = scan_;
  observe(file, found.stat, limits_.shrunk_polls);
  // Open at once, so that it can be read even if it is deleted next. read() tells what fails.
  if (table_.may_open_more()) (void)table_.open(file);
}

bool Newcomers::may_be_unclear(const TrackedFile& file) const {
  return std::ranges::any_of(
      holds_, [&file](const FilePlace& place) { return place.order.base == file.order.base; });
}

// The file that it is being made of; null when it is not there, or not compressed.
const TrackedFile* Newcomers::plain_of(const TrackedFile& compressed) const {
  if (!is_compressed(compressed.order)) return nullptr;
  const auto plain = std::ranges::find_if(table_.all(), [&](const auto& file) {
    return file->seen_in_scan == scan_ && file->order.path + ".gz" == compressed.order.path;
  });
  return plain == table_.all().end() ? nullptr : plain->get();
}

// What follows it in its lane waits for it, but not for ever.
void Newcomers::hold_lane(const FoundFile& found, unsigned age) {
  if ((unclear_[found.stat.identity] += age) <= kLongestHold) holds_.push_back(found.place);
}

// They are found again, unless their directory could not be listed.
void Newcomers::release_holds(const ScanContext& scan) {
  std::erase_if(holds_, [&scan](const FilePlace& place) {
    return scan.lists_directory_of(place.order.path);
  });
  held_unlisted_ = holds_.empty() ? 0 : held_unlisted_ + scan.age;
  if (held_unlisted_ > kLongestHold) holds_.clear();
}

// The content of `file` was found elsewhere: reading goes on there.
void Newcomers::adopt(TrackedFile& file, FoundFile found, TailSink& sink) {
  table_.move(file, std::move(found.place.order), found.stat.identity);
  file.blocked = false;
  file.failures = file.failing_polls = file.wait_polls = 0;
  file.seen_in_scan = scan_;
  observe(file, found.stat, limits_.shrunk_polls);
  if (table_.may_open_more()) (void)table_.open(file);
  if (file.announced) sink.renamed(reader_.known(file));
}

void Newcomers::replaced(TrackedFile& file, TailSink& sink) {
  Succession::Search search = succession_.search(file);
  if (search.heir) {
    // What stands there now is newer; the next scan finds it, and the lane waits for that.
    holds_.push_back({table_.lane_name(file.lane), file.lane_is_single, search.heir->place.order});
    return adopt(file, *std::move(search.heir), sink);
  }
  if (!file.first_sight.empty()) {
    file.former_sight = file.first_sight;
    ++file.since;
  }
  if (!search.listed && file.unlisted_polls <= kLongestHold) {  // look again
    file.blocked = true;
    file.touched = true;
    return;
  }
  if (file.offset() > 0) {
    const std::uint64_t lost = restart(file);
    if (file.announced) sink.restarted(file.id, lost);
  }
  file.first_sight.clear();
  // One of them may hold what was written meanwhile: the next scan finds it, and it is read first.
  file.blocked = search.strangers;
}

void Newcomers::forget(const std::vector<TrackedFile*>& files, TailSink& sink) {
  for (TrackedFile* const file : files) {
    file->ending = true;
    reader_.settle(*file, sink);
    const FileId id = file->id;
    const bool announced = file->announced;
    const bool barred = table_.forget(*file);
    if (announced) sink.forgotten(id, barred);
  }
}

}  // namespace trainwatch
