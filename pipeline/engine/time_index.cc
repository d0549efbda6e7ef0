#include "pipeline/engine/time_index.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace trainwatch {
namespace {

constexpr std::string_view kTimes = "times/";
constexpr std::string_view kRetired = "times_retired/";
constexpr std::string_view kRetiredFrom = "times_dropped";

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
                          std::int64_t base_ns) {
  extend(file, {.whole = true}, first_ns, last_ns);
  files_[file].times.base_ns = base_ns;
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
  while (stretches_ > limits_.stretches && !retired_.empty()) drop_oldest();
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
  times.stretches.shrink_to_fit();
  retired_.push_back({std::move(known), std::move(times)});
  while (retired_.size() > limits_.retired) drop_oldest();
}

void TimeIndex::drop_oldest() {
  stretches_ -= retired_.front().times.stretches.size();
  retired_.pop_front();
  ++dropped_;
}

bool TimeIndex::find(FileId file, std::int64_t from_ns, std::int64_t to_ns,
                     FileWindow& window) const {
  const auto found = files_.find(file);
  return found != files_.end() && find(found->second.times, from_ns, to_ns, window);
}

void TimeIndex::find_retired(std::int64_t from_ns, std::int64_t to_ns,
                             std::vector<FileWindow>& windows) const {
  for (const Retired& each : retired_) {
    FileWindow window = each.known;
    if (find(each.times, from_ns, to_ns, window)) windows.push_back(std::move(window));
  }
}

bool TimeIndex::find(const Times& times, std::int64_t from_ns, std::int64_t to_ns,
                     FileWindow& window) {
  const std::vector<Stretch>& all = times.stretches;
  const auto touches = [&](const Stretch& each) {
    return each.first_ns <= to_ns && each.last_ns >= from_ns;
  };
  if (std::ranges::none_of(all, touches)) return false;
  window.base_ns = times.base_ns;
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
  if (all) {
    for (auto& [id, file] : files_) save(id, file, rows, true);
  } else {
    for (const FileId id : changed_) save(id, files_.at(id), rows, false);
  }
  changed_.clear();
  for (std::uint64_t n = dropped_saved_; n < dropped_; ++n) rows.remove(numbered_row(kRetired, n));
  const std::uint64_t from = all ? dropped_ : std::max(retired_saved_, dropped_);
  retired_saved_ = dropped_ + retired_.size();
  for (std::uint64_t n = from; n < retired_saved_; ++n) {
    rows.put(numbered_row(kRetired, n), [&](StateIo& io) {
      io(retired_[n - dropped_].known);
      io(retired_[n - dropped_].times);
    });
  }
  if (std::exchange(dropped_saved_, dropped_) != dropped_ || (all && dropped_ > 0))
    rows.put(std::string(kRetiredFrom), [&](StateIo& io) { io(dropped_); });
}

void TimeIndex::save(FileId id, Followed& file, StateRows& rows, bool all) {
  std::vector<Stretch>& stretches = file.times.stretches;
  const std::size_t count = (stretches.size() + kPerRow - 1) / kPerRow;
  for (std::size_t row = all ? 0 : file.changed_from / kPerRow; row < count; ++row) {
    const auto begin = stretches.begin() + static_cast<std::ptrdiff_t>(row * kPerRow);
    const auto end = stretches.begin() +
                     static_cast<std::ptrdiff_t>(std::min(stretches.size(), (row + 1) * kPerRow));
    Times part{{begin, end}, file.times.base_ns, file.times.whole, file.times.open_span};
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
    file.times.whole = part.whole;
    file.times.open_span = part.open_span;
    file.rows = std::max(file.rows, row + 1);
    file.changed_from = all.size();
    stretches_ += part.stretches.size();
    return true;
  };
  const auto load_retired = [&](std::string_view, std::string_view value) {
    Retired& retired = retired_.emplace_back();
    StateIo io = saved.open(value);
    io(retired.known);
    io(retired.times);
    stretches_ += retired.times.stretches.size();
    return io.complete();
  };
  if (saved.rows.contains(kRetiredFrom) &&
      !load_row(saved, kRetiredFrom, [&](StateIo& io) { io(dropped_); }))
    return false;
  dropped_saved_ = dropped_;
  const bool loaded =
      for_rows(saved, kTimes, load_times) && for_rows(saved, kRetired, load_retired);
  retired_saved_ = dropped_ + retired_.size();
  return loaded;
}

}  // namespace trainwatch
