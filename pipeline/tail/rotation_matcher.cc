// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/rotation_matcher.h"

#include <algorithm>

#include "pipeline/tail/fingerprint_search.h"
#include "pipeline/tail/paths.h"

namespace trainwatch {
namespace {

// A file at this path could be another version or another piece of `file`.
bool same_base(const FilePlace& place, const TrackedFile& file) {
  return place.order.base == file.identity.order.base &&
         place.order.path != file.identity.order.path && !is_compressed(place.order);
}

// Rotation by copy makes an older piece of an existing file; a rewrite starts as a draft of it.
bool may_copy(const ReadOrder& found, const ReadOrder& of) {
  const bool draft = found.path.ends_with(".tmp") && found.path != of.path;
  return found.age < of.age || (found.age == of.age && draft);
}

// Only a draft can grow longer than its original.
bool fits_copy(const ReadOrder& found, std::uint64_t found_size, const ReadOrder& of,
               std::uint64_t size) {
  if (size == 0) return found_size == 0;
  return found_size <= size || found.age == of.age;
}

// The same file on a new device number; an open descriptor may still lead to the old mount.
bool is_mounted_again(const FoundFile& found, const TrackedFile& known) {
  const FileIdentity& a = found.stat.identity;
  const FileIdentity& b = known.identity.inode;
  return a.device != b.device && a.inode == b.inode && a.birth_ns == b.birth_ns;
}

}  // namespace

RotationMatcher::RotationMatcher(FileSystem& files, const FileTable& table)
    : files_(files), table_(table), buffer_(std::size_t{64} << 10U) {}

void RotationMatcher::begin(std::uint64_t scan) {
  scan_ = scan;
  std::erase_if(copies_, [scan](const auto& copy) { return copy.second.seen_in_scan + 1 < scan; });
}

Result<RotationMatcher::Match> RotationMatcher::compare(const FoundFile& found,
                                                        const TrackedFile& known, Place place) {
  const auto opened = files_.open(found.place.order.path);
  if (!opened) return opened.error();
  Result<bool> whole = false;
  const bool mounted_again = is_mounted_again(found, known);
  const bool to_prove =
      !known.progress.read.proves_nothing() || (known.offset() > 0 && mounted_again);
  if (to_prove && found.stat.size >= known.offset()) {
    whole = holds(**opened, known.progress.read, buffer_);
  }
  if (!whole) return whole.error();
  const auto present = present_of(known, place);
  if (!present) return present.error();
  if (*present == nullptr) return *whole ? Match::replacement : Match::none;
  const bool large_enough = known.progress.size >= known.offset() || known.presence.shrunk;
  const auto kept = large_enough ? holds(**present, known.progress.read, buffer_) : false;
  if (!kept && place == Place::empty) return *whole ? Match::replacement : Match::none;
  if (!kept) return kept.error();
  if (!*kept && *whole) return Match::replacement;
  const bool fits = place == Place::own ? fits_copy(found.place.order, found.stat.size,
                                                    known.identity.order, known.progress.size)
                                        : *kept || mounted_again;
  if (!fits) return Match::none;
  if (place == Place::empty && !mounted_again && known.offset() == 0 && !has_line(**present)) {
    return Match::none;
  }
  const auto same = same_beginning(**opened, **present, buffer_);
  if (!same) return same.error();
  return *same ? Match::copy : Match::none;
}

// Many files begin with the same part of a first line.
bool RotationMatcher::has_line(OpenFile& file) {
  const auto head = read_fully(file, 0, std::span(buffer_).first(Fingerprint::kTail));
  return head && (head->size() == Fingerprint::kTail || head->find('\n') != head->npos);
}

// Null if it cannot be opened by descriptor or by path.
Result<OpenFile*> RotationMatcher::present_of(const TrackedFile& known, Place place) {
  reopened_.reset();
  if (known.presence.handle != nullptr || place != Place::own) return known.presence.handle.get();
  auto opened = files_.open(known.identity.order.path);
  if (!opened) return opened.error();
  reopened_ = std::move(*opened);
  return reopened_.get();
}

bool RotationMatcher::may_be_mounted_again(const FoundFile& found) const {
  return std::ranges::any_of(table_.same_base(found.place.order.base), [&](const auto* known) {
    return known->presence.seen_in_scan != scan_ && is_mounted_again(found, *known);
  });
}

bool RotationMatcher::copies(const FoundFile& found, const FoundFile& other) {
  const ReadOrder& order = found.place.order;
  if (order.base != other.place.order.base || is_compressed(order)) return false;
  if (is_compressed(other.place.order)) return false;
  const ReadOrder& of = other.place.order;
  if (!may_copy(order, of) || !fits_copy(order, found.stat.size, of, other.stat.size)) return false;
  const auto a = files_.open(order.path);
  const auto b = files_.open(other.place.order.path);
  if (!a || !b) return false;
  const auto same = same_beginning(**a, **b, buffer_);
  return same && *same;
}

// Unchanged since the last comparison, judging by the last bytes that were read of the original.
bool RotationMatcher::still_a_copy(const FoundFile& found, const TrackedFile& original) {
  const auto copy = copies_.find(found.stat.identity);
  if (copy == copies_.end() || original.offset() == 0) return false;
  copy->second.seen_in_scan = scan_;
  if (copy->second.size != found.stat.size) return false;
  if (copy->second.modified_ns != found.stat.modified_ns) return false;
  const auto present = present_of(original, Place::own);
  if (!present) return true;
  const std::string_view tail = original.progress.read.tail();
  const auto end =
      read_fully(**present, original.offset() - tail.size(), std::span(buffer_).first(tail.size()));
  return !end || *end == tail;
}

// The known files of its base name. Comparing reads both files, so where there are many, only those
// that are out of their places and the latest others count.
std::vector<TrackedFile*> RotationMatcher::candidates(const FoundFile& found) const {
  constexpr std::size_t kMost = 64;
  std::vector<TrackedFile*> known = table_.same_base(found.place.order.base);
  if (known.size() <= kMost) return known;
  std::stable_partition(known.begin(), known.end(), [this](const TrackedFile* file) {
    return file->presence.seen_in_scan != scan_;
  });
  std::rotate(known.begin() + kMost / 2, known.end() - kMost / 2, known.end());
  known.resize(kMost);
  return known;
}

RotationMatcher::Relation RotationMatcher::relate(const FoundFile& found) {
  Relation relation;
  for (TrackedFile* const each : candidates(found)) {
    TrackedFile& known = *each;
    const bool mounted_again = is_mounted_again(found, known);
    if (is_compressed(known.identity.order) && !mounted_again) continue;
    if (is_compressed(found.place.order) && !mounted_again) {
      const bool named = known.identity.order.path + ".gz" == found.place.order.path;
      const bool unread = known.offset() == 0 || known.hold.failures() > 0;
      const bool out_of_reach =
          known.presence.missing && known.presence.handle == nullptr && unread;
      if (named && out_of_reach && !files_.stat(known.identity.order.path))
        relation.since = known.identity.since;
      continue;
    }
    const Kind kind = kind_of(found, known);
    if (kind != Kind::fresh) {
      relation.kind = kind;
      relation.of = &known;
      return relation;
    }
    if (holds_former(found, known)) relation.since = known.identity.since - 1;
  }
  return relation;
}

bool RotationMatcher::holds_former(const FoundFile& found, const TrackedFile& known) {
  if (known.progress.former_head.empty()) return false;
  const auto opened = files_.open(found.place.order.path);
  if (!opened) return false;
  const auto same = begins_with(**opened, known.progress.former_head, buffer_);
  return same && *same;
}

// How the found file relates to one known file.
RotationMatcher::Kind RotationMatcher::kind_of(const FoundFile& found, const TrackedFile& known) {
  const bool mounted_again = is_mounted_again(found, known);
  const bool proven = known.identity.inode.birth_ns != 0 || known.offset() == 0;
  if (mounted_again && proven) return Kind::continues;
  const Place place = mounted_again ? Place::empty : place_of_known(known);
  if (place == Place::elsewhere) return Kind::fresh;
  if (place == Place::own && !may_copy(found.place.order, known.identity.order)) return Kind::fresh;
  const bool nothing_known = known.progress.size == 0 && known.offset() == 0;
  if (place != Place::own && nothing_known && !mounted_again) return Kind::fresh;
  if (place == Place::own && still_a_copy(found, known)) return Kind::waits;
  const auto match = compare(found, known, place);
  if (!match) return Kind::unclear;
  if (*match == Match::none) return Kind::fresh;
  if (mounted_again) return Kind::continues;
  if (place == Place::unknown) return Kind::unclear;
  // A complete copy of a file without a name continues it.
  const bool nameless = place == Place::empty && *match == Match::copy;
  if (nameless && found.stat.size == 0) return Kind::fresh;
  if (*match == Match::replacement || (nameless && found.stat.size >= known.progress.size)) {
    // The sink has discarded half a record: the other half would be meaningless.
    if (known.phase.finished() && !known.progress.read.ends_whole()) return Kind::fresh;
    return place == Place::own ? Kind::moved : Kind::continues;
  }
  if (place != Place::own) return Kind::unclear;  // it may still grow into a complete copy
  copies_[found.stat.identity] = {found.stat.size, found.stat.modified_ns, scan_};
  return Kind::waits;
}

// The place of the known file, as far as this scan can see.
RotationMatcher::Place RotationMatcher::place_of_known(const TrackedFile& known) const {
  if (known.presence.seen_in_scan == scan_) return Place::own;
  if (known.presence.handle != nullptr)
    return known.presence.linked ? Place::elsewhere : Place::empty;
  // A rename into a directory that was listed earlier hides a file for one scan.
  return known.presence.missed_scans > 1 ? Place::empty : Place::unknown;
}

RotationMatcher::Search RotationMatcher::search(const TrackedFile& file) {
  Search result;
  const std::string directory(parent_of(file.identity.order.path));
  const auto entries = files_.list(directory);
  result.listed = entries.ok();
  if (!entries) return result;
  for (const DirectoryEntry& entry : *entries) {
    if (entry.type != DirectoryEntry::Type::file || !is_trace_name(entry.name)) continue;
    FilePlace place = place_of(join(directory, entry.name));
    if (!same_base(place, file)) continue;
    const auto stat = files_.stat(place.order.path);
    if (!stat || table_.find(stat->identity) != nullptr) continue;
    result.unknown_siblings = true;
    if (file.progress.read.proves_nothing() || stat->size < file.offset()) continue;
    const auto opened = files_.open(place.order.path);
    if (!opened) continue;
    const auto same = holds(**opened, file.progress.read, buffer_);
    const auto also = begins_with(**opened, file.progress.head, buffer_);
    if (!same || !*same || !also || !*also) continue;
    result.replacement = FoundFile{std::move(place), *stat};
    break;
  }
  return result;
}

}  // namespace trainwatch
