// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/time_index.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "trainwatch/changed_keys.h"

namespace trainwatch {
namespace {

constexpr std::string_view kTimes = "times/";
constexpr std::string_view kRetired = "times_retired/";

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::min();

// A reader that starts behind the beginning of an open span goes back this far for it.
constexpr std::size_t kMostBack = 16;

// Names are few; where they stand apart from other records, little is read for them.
constexpr std::uint64_t kSmallDefinitions = std::uint64_t{32} << 10U;

constexpr std::size_t kNoNumber = std::numeric_limits<std::size_t>::max();

std::string row_of(FileId file, std::size_t row) {
  return id_row(kTimes, file) + '/' + std::to_string(row);
}

void see(const Event& event, std::int64_t& first_ns, std::int64_t& last_ns) {
  if (const auto* const span = std::get_if<Span>(&event)) {
    first_ns = std::min(first_ns, to_ns(span->start));
    last_ns = std::max(last_ns, to_ns(span->end()));
  } else if (const auto* const sample = std::get_if<Sample>(&event)) {
    first_ns = std::min(first_ns, to_ns(sample->at));
    last_ns = std::max(last_ns, to_ns(sample->at));
  }
}

void join(std::vector<ByteRange>& ranges, ByteRange range) {
  if (!ranges.empty() && ranges.back().end >= range.begin) {
    ranges.back().end = std::max(ranges.back().end, range.end);
  } else {
    ranges.push_back(range);
  }
}

}  // namespace

void TimeIndex::add(FileId file, const Piece& piece, const EventBatch& events) {
  std::int64_t first_ns = kNever;
  std::int64_t last_ns = kAlways;
  for (const Event& event : events) see(event, first_ns, last_ns);
  extend(file, piece, first_ns, last_ns);
}

void TimeIndex::add_trace(FileId file, std::int64_t first_ns, std::int64_t last_ns,
                          std::int64_t base_ns, std::int32_t rank) {
  extend(file, {.whole = true}, first_ns, last_ns);
  Times& times = files_[file].times;
  times.base_ns = base_ns;
  times.rank = rank;
}

void TimeIndex::extend(FileId id, const Piece& piece, std::int64_t first_ns, std::int64_t last_ns) {
  Followed& file = files_[id];
  Times& times = file.times;
  times.whole = times.whole || piece.whole;
  std::vector<Stretch>& all = times.stretches;
  const std::uint64_t before = all.size() < 2 ? 0 : all[all.size() - 2].end;
  const bool fits = !all.empty() && std::max(piece.end, all.back().end) - before <= stretch_bytes_;
  const bool apart = !all.empty() && all.back().defines && !piece.defines &&
                     all.back().end - before > kSmallDefinitions;
  if (all.empty() || !(times.whole || (fits && !apart))) {
    all.push_back({.end = all.empty() ? 0 : all.back().end,
                   .first_ns = kNever,
                   .last_ns = kAlways,
                   .defines = all.empty(),  // the file's beginning, too
                   .continues = times.open_span});
    ++stretches_;
  }
  Stretch& last = all.back();
  last.end = std::max(last.end, piece.end);
  last.first_ns = std::min(last.first_ns, first_ns);
  last.last_ns = std::max(last.last_ns, last_ns);
  last.defines = last.defines || piece.defines;
  times.open_span = piece.open_span;
  file.changed_from = std::min(file.changed_from, all.size() - 1);
  changed_.insert(id);
  if (stretches_ > limits_.stretches) make_room();
}

// Doubles the shortest stretch until half of the room is free, or there is nothing left to join.
void TimeIndex::make_room() {
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 40U;
  while (stretches_ > limits_.stretches / 2 && stretch_bytes_ < kLongest) {
    stretch_bytes_ *= 2;
    for (auto& [id, file] : files_) {
      const std::size_t gone = merge(file.times);
      stretches_ -= gone;
      if (gone == 0) continue;
      file.changed_from = 0;
      changed_.insert(id);
    }
  }
  while (stretches_ > limits_.stretches && !retired_.empty()) drop(retired_.begin());
}

// How many there are fewer.
std::size_t TimeIndex::merge(Times& times) const {
  std::vector<Stretch>& all = times.stretches;
  std::size_t kept = 0;
  std::uint64_t begin = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].end - begin > stretch_bytes_) {
      begin = all[kept].end;
      all[++kept] = all[i];
      continue;
    }
    Stretch& into = all[kept];
    into.end = all[i].end;
    into.first_ns = std::min(into.first_ns, all[i].first_ns);
    into.last_ns = std::max(into.last_ns, all[i].last_ns);
    into.defines = into.defines || all[i].defines;
  }
  const std::size_t gone = all.empty() ? 0 : all.size() - kept - 1;
  all.resize(all.size() - gone);
  return gone;
}

void TimeIndex::clear(FileId id) {
  const auto found = files_.find(id);
  if (found == files_.end()) return;
  stretches_ -= found->second.times.stretches.size();
  removed_[id] = std::max(removed_[id], found->second.rows);
  files_.erase(found);
  changed_.erase(id);
}

// A compressed file is read from its beginning, and begins with what the other one contains.
void TimeIndex::superseded(FileId file, FileId by) {
  const auto found = files_.find(file);
  if (found == files_.end()) return;
  std::int64_t first_ns = kNever;
  std::int64_t last_ns = kAlways;
  for (const Stretch& each : found->second.times.stretches) {
    first_ns = std::min(first_ns, each.first_ns);
    last_ns = std::max(last_ns, each.last_ns);
  }
  clear(file);
  extend(by, {.whole = true}, first_ns, last_ns);
}

void TimeIndex::retire(FileId id, FileWindow known) {
  const auto found = files_.find(id);
  if (found == files_.end()) return;
  Times times = std::move(found->second.times);
  clear(id);  // they count as before
  retired_.emplace(next_retired_++, pack(std::move(known), std::move(times)));
  while (retired_.size() > limits_.retired) drop(retired_.begin());
}

TimeIndex::Retirees::iterator TimeIndex::drop(Retirees::iterator retired) {
  stretches_ -= retired->second.stretches;
  removed_retired_.push_back(retired->first);
  return retired_.erase(retired);
}

TimeIndex::Retired TimeIndex::pack(FileWindow known, Times times) {
  Retired retired{kNever, kAlways, times.stretches.size(), {}};
  for (const Stretch& each : times.stretches) {
    retired.first_ns = std::min(retired.first_ns, each.first_ns);
    retired.last_ns = std::max(retired.last_ns, each.last_ns);
  }
  StateIo io = StateIo::saving();
  io(known);
  io(times);
  retired.packed = io.take();
  retired.packed.shrink_to_fit();
  return retired;
}

bool TimeIndex::unpack(const std::string& packed, FileWindow& known, Times& times) {
  StateIo io = StateIo::loading(packed);
  io(known);
  io(times);
  return io.complete();
}

void TimeIndex::forget_retired(const std::function<bool(const FileWindow&)>& over) {
  for (auto each = retired_.begin(); each != retired_.end();) {
    FileWindow known;
    Times times;
    const bool whole = unpack(each->second.packed, known, times);
    each = !whole || over(known) ? drop(each) : std::next(each);
  }
}

bool TimeIndex::touches(const Times& times, std::int64_t from_ns, std::int64_t to_ns) {
  return std::ranges::any_of(times.stretches, [&](const Stretch& each) {
    return each.first_ns <= to_ns && each.last_ns >= from_ns;
  });
}

bool TimeIndex::touches(FileId file, std::int64_t from_ns, std::int64_t to_ns) const {
  const auto found = files_.find(file);
  return found != files_.end() && touches(found->second.times, from_ns, to_ns);
}

bool TimeIndex::find(FileId file, std::int64_t from_ns, std::int64_t to_ns,
                     FileWindow& window) const {
  const auto found = files_.find(file);
  return found != files_.end() && find(found->second.times, from_ns, to_ns, window);
}

void TimeIndex::find_retired(std::int64_t from_ns, std::int64_t to_ns,
                             std::vector<FileWindow>& windows) const {
  for (const auto& [number, each] : retired_) {
    if (each.first_ns > to_ns || each.last_ns < from_ns) continue;
    FileWindow window;
    Times times;
    if (unpack(each.packed, window, times) && find(times, from_ns, to_ns, window))
      windows.push_back(std::move(window));
  }
}

bool TimeIndex::find(const Times& times, std::int64_t from_ns, std::int64_t to_ns,
                     FileWindow& window) {
  const std::vector<Stretch>& all = times.stretches;
  const auto touches = [&](const Stretch& each) {
    return each.first_ns <= to_ns && each.last_ns >= from_ns;
  };
  if (!TimeIndex::touches(times, from_ns, to_ns)) return false;
  window.base_ns = times.base_ns;
  if (window.rank == kNoRank) window.rank = times.rank;
  window.whole = times.whole;
  if (times.whole) return true;
  const auto begin_of = [&](std::size_t i) { return i == 0 ? 0 : all[i - 1].end; };
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].defines) join(window.definitions, {begin_of(i), all[i].end});
    if (!touches(all[i])) continue;
    std::size_t from = i;
    while (from > 0 && all[from].continues && i - from < kMostBack) --from;
    const std::uint64_t begin =
        std::max(begin_of(from), window.events.empty() ? 0 : window.events.back().begin);
    join(window.events, {begin, all[i].end});
  }
  return true;
}

void TimeIndex::save(StateRows& rows, bool all) {
  for (const auto& [id, count] : removed_) {
    for (std::size_t row = 0; row < count; ++row) rows.remove(row_of(id, row));
  }
  removed_.clear();
  take_changed(files_, changed_, all,
               [&](FileId id, Followed& file) { save(id, file, rows, all); });
  for (const std::uint64_t number : removed_retired_) rows.remove(numbered_row(kRetired, number));
  removed_retired_.clear();
  const auto first = all ? retired_.begin() : retired_.lower_bound(retired_saved_);
  for (auto each = first; each != retired_.end(); ++each) {
    rows.put(numbered_row(kRetired, each->first), [&](StateIo& io) { io(each->second.packed); });
  }
  retired_saved_ = next_retired_;
}

void TimeIndex::save(FileId id, Followed& file, StateRows& rows, bool all) {
  std::vector<Stretch>& stretches = file.times.stretches;
  const std::size_t count = (stretches.size() + kPerRow - 1) / kPerRow;
  for (std::size_t row = all ? 0 : file.changed_from / kPerRow; row < count; ++row) {
    const auto begin = stretches.begin() + static_cast<std::ptrdiff_t>(row * kPerRow);
    const auto end = stretches.begin() +
                     static_cast<std::ptrdiff_t>(std::min(stretches.size(), (row + 1) * kPerRow));
    Times part{
        {begin, end}, file.times.base_ns, file.times.rank, file.times.whole, file.times.open_span};
    rows.put(row_of(id, row), [&](StateIo& io) { io(part); });
  }
  for (std::size_t row = count; row < file.rows; ++row) rows.remove(row_of(id, row));
  file.rows = count;
  file.changed_from = stretches.size();
}

bool TimeIndex::load(const SavedState& saved) {
  const auto load_times = [&](std::string_view key, std::string_view value) {
    const std::size_t slash = key.find('/');
    const auto id = id_in<FileId>(key.substr(0, slash));
    const std::size_t row = number_in<std::size_t>(key.substr(slash + 1)).value_or(kNoNumber);
    Times part;
    StateIo io = saved.open(value);
    io(part);
    if (!id || !io.complete() || part.stretches.size() > kPerRow) return false;
    if (slash == std::string_view::npos || row > limits_.stretches / kPerRow) return false;
    Followed& file = files_[*id];
    std::vector<Stretch>& all = file.times.stretches;
    // Rows come in the order of their names: 10 before 2.
    all.resize(std::max(all.size(), row * kPerRow + part.stretches.size()));
    std::ranges::copy(part.stretches, all.begin() + static_cast<std::ptrdiff_t>(row * kPerRow));
    file.times.base_ns = part.base_ns;
    file.times.rank = part.rank;
    file.times.whole = part.whole;
    file.times.open_span = part.open_span;
    file.rows = std::max(file.rows, row + 1);
    file.changed_from = all.size();
    stretches_ += part.stretches.size();
    return true;
  };
  const auto load_retired = [&](std::string_view key, std::string_view value) {
    const auto number = number_in<std::uint64_t>(key);
    if (!number || *number == std::numeric_limits<std::uint64_t>::max()) return false;
    std::string packed;
    StateIo io = saved.open(value);
    io(packed);
    FileWindow known;
    Times times;
    if (!io.complete() || !unpack(packed, known, times)) return false;
    stretches_ += times.stretches.size();
    retired_.emplace(*number, pack(std::move(known), std::move(times)));
    next_retired_ = *number + 1;
    return true;
  };
  const bool loaded =
      for_rows(saved, kTimes, load_times) && for_rows(saved, kRetired, load_retired);
  retired_saved_ = next_retired_;
  return loaded;
}

}  // namespace trainwatch
