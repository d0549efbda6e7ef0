// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/record_splitter.h"

#include <algorithm>
#include <utility>

#include "trainwatch/release_memory.h"

namespace trainwatch {
namespace {

constexpr std::size_t kLargeWindow = kMaxRecordBytes + 1;
constexpr std::size_t kMaxUsualGap = 16;

}  // namespace

void RecordSplitter::feed(std::string_view bytes, RecordSink& sink) {
  while (!bytes.empty()) {
    bytes.remove_prefix(take(bytes, sink));
    while (!again_.empty()) {
      const std::string text = std::exchange(again_, {});
      std::string_view rest = text;
      while (!rest.empty() && again_.empty()) rest.remove_prefix(take(rest, sink));
      again_.append(rest);
    }
  }
  // Thousands of files are open at a time: none keeps what only its first, large chunk needed.
  if (carry_.empty() && carry_.capacity() > kMostKeptBytes) release_memory(carry_);
  if (marks_.capacity() > kMostKeptMarks) release_memory(marks_);
}

std::size_t RecordSplitter::take(std::string_view bytes, RecordSink& sink) {
  switch (mode_) {
    case Mode::start:
      return start(bytes, sink);
    case Mode::members:
      return members(bytes, sink);
    case Mode::records:
      return records(bytes, sink);
    case Mode::resync:
      return resync(bytes);
    case Mode::array_end:
      return array_end(bytes, sink);
    case Mode::tail:
      return tail(bytes, sink);
    case Mode::count_:
      break;
  }
  return bytes.size();
}

std::size_t RecordSplitter::start(std::string_view bytes, RecordSink& sink) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const char c = bytes.front();
  if (c == '"') {  // of the first key, whose '{' is missing
    garbage(bytes, sink);
    object_root_ = true;
    mode_ = Mode::members;
    metadata_.damaged();
    return 0;
  }
  if (c == '{' || c == '[') {
    object_root_ = c == '{';
    mode_ = object_root_ ? Mode::members : Mode::records;
    has_events_ = !object_root_;
  } else if (!is_json_space(c) && kByteOrderMark.find(c) == std::string_view::npos) {
    garbage(bytes, sink);
    ++account_.skipped;
    return 1;
  }
  ++account_.structure;
  return 1;
}

std::size_t RecordSplitter::members(std::string_view bytes, RecordSink& sink) {
  using Found = DocumentMetadata::Found;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t plain = metadata_.take_plain(bytes.substr(i));
    member_ += plain;
    i += plain;
    if (i == bytes.size()) break;
    const bool was_lost = metadata_.lost();
    const Found found = metadata_.take(bytes[i]);
    if (found == Found::damage || found == Found::too_long) {
      damaged_member(found == Found::damage ? RejectReason::syntax : RejectReason::too_long, sink);
      return i;
    }
    if (found == Found::record) {
      begin_record(metadata_.held());
      return i;
    }
    ++member_;
    if (was_lost && metadata_.lost()) account_.skipped += std::exchange(member_, 0);
    if (found == Found::nothing) continue;
    if (found == Found::member || found == Found::last_member) {
      if (metadata_.value().find(kPhase) != std::string_view::npos) {
        damaged_member(RejectReason::syntax, sink);
        metadata_.damaged();
        return i + 1;
      }
      damaged_ = false;
      sink.member(metadata_.key(), metadata_.value());
    }
    if (found == Found::events_inside) {
      garbage(metadata_.key(), sink);
      again_ = metadata_.value();
      member_ -= again_.size();
      account_.rejected += std::exchange(member_, 0);
      metadata_.events_end();
      object_root_ = true;
      begin_events();
      return i + 1;
    }
    account_.records += std::exchange(member_, 0);
    if (found == Found::events) {
      begin_events();
      return i + 1;
    }
    if (found == Found::end || found == Found::last_member) {
      end_of_root();
      return i + 1;
    }
  }
  return bytes.size();
}

void RecordSplitter::begin_events() {
  has_events_ = true;
  mode_ = Mode::records;
  separator_ = Separator::bracket;
  scan_ = {};
}

void RecordSplitter::end_of_root() {
  closed_ = ended_ = true;
  damaged_ = false;
  mode_ = Mode::tail;
}

// The bytes between two records, as far as they are separators.
std::size_t RecordSplitter::gap(std::string_view bytes, RecordSink& sink) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!is_json_space(bytes[i]) && !separator(bytes[i], sink)) {
      account_.structure += i;
      return i;
    }
  }
  account_.structure += bytes.size();
  return bytes.size();
}

bool RecordSplitter::separator(char c, RecordSink& sink) {
  if (c == '[') {  // of a writer that appended a new array
    separator_ = Separator::bracket;
  } else if (c == ',' && separator_ == Separator::record) {
    separator_ = Separator::comma;
  } else if (c == ',') {  // no record before it
    if (!damaged_) sink.rejected(RejectReason::syntax, ",");
    ++account_.skipped;
    --account_.structure;
  } else {
    return false;
  }
  return true;
}

std::size_t RecordSplitter::records(std::string_view bytes, RecordSink& sink) {
  window_ = std::clamp(window_ * 2, kSmallWindow, kLargeWindow);
  const std::size_t size =
      std::min(bytes.size(), carry_.empty() ? window_ : kMaxRecordBytes + 1 - carry_.size());
  marks_.clear();
  bool open = scan_.depth > 0;
  const ScanResult result = scan_records(bytes.substr(0, size), scan_, marks_);
  std::size_t at = 0;  // of the open record, or what follows the last one
  for (const RecordMark mark : marks_) {
    if (mark.edge == RecordEdge::end) {
      const std::size_t end = mark.offset + 1;
      const bool carried = !carry_.empty();
      if (carried) carry_.append(bytes.substr(at, end - at));
      const std::string_view text = carried ? carry_ : bytes.substr(at, end - at);
      if (!complete(text, sink)) return read_again(bytes, at, end, true);
      if (carried) carry_.clear();
      at = end;
      open = false;
      separator_ = Separator::record;
      continue;
    }
    const std::string_view between = bytes.substr(at, mark.offset - at);
    if (!take_usual_gap(between)) {
      const std::size_t used = before_record(between, sink);
      if (used < between.size()) return lost(bytes, at + used, sink);
    }
    at = mark.offset;
    open = true;
    closed_ = false;
  }
  if (!open) return behind_records(bytes, at, result, sink);
  switch (result.stop) {
    case ScanStop::end_of_bytes:
      return end_of_piece(bytes, size, at, sink);
    case ScanStop::too_deep:
      return broken(bytes, at, result.consumed, RejectReason::depth, sink);
    case ScanStop::torn:
    case ScanStop::broken_string:
    case ScanStop::closed:
      break;
  }
  return broken(bytes, at, result.consumed, RejectReason::syntax, sink);
}

// The bytes between two records, if they are not the usual ones.
std::size_t RecordSplitter::before_record(std::string_view between, RecordSink& sink) {
  const bool from_record = separator_ == Separator::record;
  const std::size_t used = gap(between, sink);
  const bool usual = from_record && separator_ == Separator::comma;
  if (used == between.size() && usual && between.size() < kMaxUsualGap &&
      between.find('[') == between.npos && between.find(',') == between.rfind(',')) {
    usual_gap_ = between;
  }
  return used;
}

// No record is open at `at`, the end of the last one.
std::size_t RecordSplitter::behind_records(std::string_view bytes, std::size_t at,
                                           const ScanResult& result, RecordSink& sink) {
  const bool bracket = result.stop == ScanStop::closed;
  const std::string_view rest = bytes.substr(at, result.consumed - at - (bracket ? 1 : 0));
  const std::size_t used = gap(rest, sink);
  if (used < rest.size()) return lost(bytes, at + used, sink);
  if (bracket) {
    ++account_.structure;
    scan_ = {};
    mode_ = Mode::array_end;
    closed_ = !object_root_;
  }
  return result.consumed;
}

// `size` bytes were scanned, and a record that begins at `open`, or in carry_, is not complete.
std::size_t RecordSplitter::end_of_piece(std::string_view bytes, std::size_t size, std::size_t open,
                                         RecordSink& sink) {
  if (carry_.size() + size - open > kMaxRecordBytes) {
    return broken(bytes, open, size, RejectReason::too_long, sink);
  }
  if (size < bytes.size() && carry_.empty()) {  // scan it once more, in a larger window
    scan_ = {};
    return open;
  }
  carry_.append(bytes.substr(open, size - open));
  return size;
}

// What follows says whether the ']' was the end of the array.
std::size_t RecordSplitter::array_end(std::string_view bytes, RecordSink& sink) {
  const char c = bytes.front();
  const bool comma = separator_ == Separator::comma;
  if (is_json_space(c)) {
    ++account_.structure;
    return 1;
  }
  const bool unsure = damaged_ && !comma && c == '}';  // brackets may be out of step
  if (object_root_ && (c == '"' || unsure)) {
    if (!comma) garbage("]", sink);
    metadata_.events_end();
    if (damaged_) metadata_.damaged();
    mode_ = Mode::members;
    return 0;
  }
  if (object_root_ && !comma && (c == ',' || c == '}')) {
    ++account_.structure;
    separator_ = Separator::comma;
    if (c == '}') end_of_root();
    return 1;
  }
  if (!object_root_ && c == '[') {  // a writer appends another document
    ended_ = true;
  } else {
    garbage("]", sink);
    --account_.structure;
    ++account_.skipped;
  }
  closed_ = false;
  mode_ = Mode::records;
  scan_ = {};
  return 0;
}

std::size_t RecordSplitter::tail(std::string_view bytes, RecordSink& sink) {
  if (foreign_) {
    account_.skipped += bytes.size();
    return bytes.size();
  }
  std::size_t blank = 0;
  while (blank < bytes.size() && is_json_space(bytes[blank])) ++blank;
  account_.structure += blank;
  if (blank == bytes.size()) return blank;
  garbage(bytes.substr(blank), sink);
  const char c = bytes[blank];
  if (has_events_ && c != ',' && c != '}' && c != ']') {
    account_.skipped += bytes.size() - blank;
    foreign_ = true;
    return bytes.size();
  }
  // A '}' too many, or the root's bracket is missing: no document begins like this.
  closed_ = ended_ = false;
  mode_ = Mode::members;
  metadata_.damaged();
  return blank;
}

ByteAccount RecordSplitter::bytes() const {
  ByteAccount out = account_;
  if (mode_ == Mode::resync) out.skipped -= layout_.held().size();
  if (mode_ == Mode::members) out.skipped -= metadata_.held().size();
  return out;
}

void RecordSplitter::finish(RecordSink& sink) {
  for (;;) {
    if (mode_ == Mode::records && !carry_.empty()) {
      sink.rejected(carry_.size() > kMaxRecordBytes ? RejectReason::too_long : RejectReason::syntax,
                    carry_);
      damaged_ = true;
      read_again({}, 0, 0, true);
    } else if (mode_ == Mode::members && metadata_.inside_member()) {
      damaged_member(RejectReason::syntax, sink);
      metadata_.damaged();
    } else {
      account_.structure += std::exchange(member_, 0);
      layout_ = {};
      if (metadata_.lost()) metadata_.damaged();
      return;
    }
    const std::string text = std::exchange(again_, {});
    feed(text, sink);
  }
}

void RecordSplitter::cut_back(std::size_t bytes) {
  if (mode_ == Mode::array_end) {
    mode_ = Mode::records;
    closed_ = false;
  }
  if (mode_ != Mode::records) return;
  const std::size_t inside = std::min(bytes, carry_.size());
  account_.cut_back(bytes - inside);
  carry_.resize(carry_.size() - inside);
  if (carry_.empty()) separator_ = Separator::record;
  // Inside a record: scan what is left of it once more.
  scan_ = {};
  marks_.clear();
  scan_records(carry_, scan_, marks_);
}

void RecordSplitter::state(StateIo& io) {
  io(mode_);
  io(separator_);
  io(object_root_);
  io(closed_);
  io(ended_);
  io(has_events_);
  io(damaged_);
  io(foreign_);
  io(scan_);
  io(layout_);
  io(carry_);
  io(member_);
  io(metadata_);
  io(account_);
  io(usual_);
  const bool bounded = carry_.size() <= kMaxRecordBytes && scan_.depth <= kMaxDepth;
  if (mode_ >= Mode::count_ || separator_ >= Separator::count_ || !bounded) io.fail();
}

}  // namespace trainwatch
