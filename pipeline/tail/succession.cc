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
Result<bool> Succession::repeats(const FoundFile& found, TrackedFile& known) {
  const bool whole = found.stat.size >= known.offset();
  if (!whole && known.handle == nullptr) return false;
  auto opened = files_.open(found.place.order.path);
  if (!opened) return opened.error();
  if (whole) return holds(**opened, known.read, buffer_);
  return same_beginning(**opened, *known.handle, found.stat.size, buffer_);
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
    if (is_compressed(known.order.path) || known.offset() == 0) continue;
    if (is_compressed(found.place.order.path)) {
      relation.plain.push_back(known.id);
      continue;
    }
    const Place place = place_of_known(known);
    const bool older = found.place.order.age < known.order.age;
    if (place == Place::elsewhere || (place == Place::own && !older)) continue;
    if (place == Place::own && still_a_copy(found)) return {Kind::waits, nullptr, {}};
    const auto same = repeats(found, known);
    if (!same) return {Kind::waits, nullptr, {}};
    if (!*same) continue;
    if (place == Place::empty && found.stat.size >= known.offset()) {
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
