#include "pipeline/tail/succession.h"

#include <algorithm>

#include "pipeline/tail/content_search.h"

namespace trainwatch {
namespace {

bool is_compressed(const std::string& path) {
  return path.ends_with(".gz") || path.ends_with(".gz.tmp");
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

// A file in this place could be another state or another piece of `file`.
bool akin(const FilePlace& place, const TrackedFile& file) {
  return place.order.base == file.order.base && place.order.path != file.order.path &&
         !is_compressed(place.order.path);
}

// Rotation by copy makes an older piece of what is there; a rewrite begins with a draft of it.
bool may_copy(const ReadOrder& found, const ReadOrder& of) {
  const bool draft = found.path.ends_with(".tmp") && found.path != of.path;
  return found.age < of.age || (found.age == of.age && draft);
}

// Only a draft grows longer than its original.
bool fits_copy(const ReadOrder& found, std::uint64_t found_size, const ReadOrder& of,
               std::uint64_t size) {
  if (size == 0) return found_size == 0;
  return found_size <= size || found.age == of.age;
}

// The same file on a new device number; an open descriptor may still lead to the old mount.
bool is_mounted_again(const FoundFile& found, const TrackedFile& known) {
  const FileIdentity& a = found.stat.identity;
  const FileIdentity& b = known.identity;
  return a.device != b.device && a.inode == b.inode && a.birth_ns == b.birth_ns;
}

// The sink has given up on half a record when the file finished: what follows would be the other
// half of nothing.
bool ends_whole(const ContentMark& read) {
  const std::string_view tail = read.tail();
  return !tail.empty() && std::string_view("\n]}").find(tail.back()) != std::string_view::npos;
}

}  // namespace

Succession::Succession(FileSystem& files, const FileTable& table)
    : files_(files), table_(table), buffer_(std::size_t{64} << 10U) {}

void Succession::begin(std::uint64_t scan) {
  scan_ = scan;
  by_base_.clear();
  for (const auto& file : table_.all()) by_base_.emplace(file->order.base, file.get());
  std::erase_if(copies_, [scan](const auto& copy) { return copy.second.seen_in_scan + 1 < scan; });
}

// True when `found` holds what was read of `known`; also, while `known` itself still holds that,
// when it is a copy of a part of it: the copy may still be growing.
Result<bool> Succession::repeats(const FoundFile& found, TrackedFile& known, Place place) {
  auto opened = files_.open(found.place.order.path);
  if (!opened) return opened.error();
  Result<bool> whole = false;
  if (known.offset() > 0 && found.stat.size >= known.offset()) {
    whole = holds(**opened, known.read, buffer_);
  }
  if (!whole) return whole;
  std::unique_ptr<OpenFile> reopened;
  OpenFile* present = known.handle.get();
  if (present == nullptr && place == Place::own) {
    auto again = files_.open(known.order.path);
    if (!again) return again.error();
    reopened = std::move(*again);
    present = reopened.get();
  }
  if (present == nullptr) return *whole;
  const auto kept = known.size >= known.offset() ? holds(*present, known.read, buffer_) : false;
  if (!kept) return kept;
  if (!*kept && *whole) return whole;
  const bool fits =
      place != Place::own || fits_copy(found.place.order, found.stat.size, known.order, known.size);
  if (!fits) return false;
  return same_beginning(**opened, *present, std::min(found.stat.size, known.size), buffer_);
}

bool Succession::copies(const FoundFile& found, const FoundFile& other) {
  const ReadOrder& order = found.place.order;
  if (order.base != other.place.order.base || is_compressed(order.path)) return false;
  if (is_compressed(other.place.order.path)) return false;
  const ReadOrder& of = other.place.order;
  if (!may_copy(order, of) || !fits_copy(order, found.stat.size, of, other.stat.size)) return false;
  const auto a = files_.open(order.path);
  const auto b = files_.open(other.place.order.path);
  if (!a || !b) return false;
  const auto same = same_beginning(**a, **b, std::min(found.stat.size, other.stat.size), buffer_);
  return same && *same;
}

bool Succession::still_a_copy(const FoundFile& found) {
  const auto known = copies_.find(found.stat.identity);
  if (known == copies_.end()) return false;
  known->second.seen_in_scan = scan_;
  return known->second.size == found.stat.size &&
         known->second.modified_ns == found.stat.modified_ns;
}

Succession::Relation Succession::relate(const FoundFile& found) {
  Relation relation;
  const auto [first, last] = by_base_.equal_range(found.place.order.base);
  for (auto entry = first; entry != last; ++entry) {
    TrackedFile& known = *entry->second;
    if (is_compressed(known.order.path)) continue;
    if (is_compressed(found.place.order.path)) {
      if (known.offset() > 0) relation.plain.push_back(known.id);
      continue;
    }
    const bool mounted_again = is_mounted_again(found, known);
    if (mounted_again && known.identity.birth_ns != 0) return {Kind::continues, &known, {}};
    const Place place = mounted_again ? Place::empty : place_of_known(known);
    if (place == Place::elsewhere) continue;
    if (place == Place::own && !may_copy(found.place.order, known.order)) continue;
    const bool nothing_known = known.size == 0 && known.offset() == 0;
    if (place != Place::own && nothing_known && !mounted_again) continue;
    if (place == Place::own && still_a_copy(found)) return {Kind::waits, nullptr, {}};
    const auto same = repeats(found, known, place);
    if (!same) return {Kind::unclear, nullptr, {}};
    if (!*same) continue;
    if (place == Place::unknown) return {Kind::unclear, nullptr, {}};
    if (place == Place::empty && found.stat.size >= known.offset()) {
      if (known.finished && !ends_whole(known.read)) continue;
      return {Kind::continues, &known, {}};
    }
    if (place == Place::own) {
      copies_[found.stat.identity] = {found.stat.size, found.stat.modified_ns, scan_};
    }
    return {Kind::waits, nullptr, {}};
  }
  return relation;
}

// Where the file itself is, as far as this scan can tell.
Succession::Place Succession::place_of_known(const TrackedFile& known) const {
  if (known.seen_in_scan == scan_) return Place::own;
  if (known.handle != nullptr) return known.linked ? Place::elsewhere : Place::empty;
  // A rename into a directory that was listed before hides a file for one scan.
  return known.missing_polls > 1 ? Place::empty : Place::unknown;
}

std::optional<FoundFile> Succession::search(const TrackedFile& file) {
  const std::string directory = directory_of(file.order.path);
  const auto entries = files_.list(directory);
  if (!entries) return std::nullopt;
  for (const DirectoryEntry& entry : *entries) {
    if (entry.type != DirectoryEntry::Type::file || !is_trace_name(entry.name)) continue;
    FilePlace place = place_of(directory == "/" ? "/" + entry.name : directory + "/" + entry.name);
    if (!akin(place, file)) continue;
    const auto stat = files_.stat(place.order.path);
    if (!stat || stat->size < file.offset() || table_.find(stat->identity) != nullptr) continue;
    const auto opened = files_.open(place.order.path);
    if (!opened) continue;
    const auto same = holds(**opened, file.read, buffer_);
    if (same && *same) return FoundFile{std::move(place), *stat};
  }
  return std::nullopt;
}

}  // namespace trainwatch
